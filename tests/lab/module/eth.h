/* SPDX-License-Identifier: GPL-2.0 */
/* fake_hca: the Ethernet netdev of a port, and the DCB of the driver that it plays (dcb.c lists them). */
#ifndef FH_ETH_H
#define FH_ETH_H

#include "fake_hca.h"
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <net/dcbnl.h>

#define FH_DSCPS	64
#define FH_TCS		IEEE_8021QAZ_MAX_TCS
#define FH_NO_PRIO	0xff

/* ice: one of the two configurations that it keeps (struct ice_dcbx_cfg). */
struct fh_ice_cfg {
	struct fh_ice_ets { u8 willing, cbs, maxtcs, prio[FH_TCS], bw[FH_TCS], tsa[FH_TCS]; } ets, rec;
	struct { u8 willing, mbc, cap, en; } pfc;
	u8 napps, dscp_mode, dcbx_mode;
	struct { u8 selector, prio; u16 id; } app[FH_DSCPS];
	DECLARE_BITMAP(mapped, FH_DSCPS);
	u8 map[FH_DSCPS];
};

/* Each driver's state beside the structures that all have. */
union fh_dcb_priv {
	struct { u8 group[FH_TCS], bw[FH_TCS]; int apps; u16 cable; } mlx5;
	struct { struct fh_ice_cfg local, desired; } ice;
	struct { int napps; struct dcb_app app[32]; } i40e;
	struct { bool ets, pfc; u8 num_tc, qidx[FH_TCS]; } bnxt;
	struct { u8 num_tc, dscp2prio[FH_DSCPS]; int apps; } hns3;
	struct { bool valid; struct ieee_ets ets; struct ieee_pfc pfc; } qede;	/* what waits for SET_ALL */
};

struct fh_eth {
	struct net_device *ndev;
	struct fh_port *port;
	const struct fh_dcb *dcb;
	struct ieee_pfc pfc;
	struct ieee_ets ets;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buffer;
	struct ethtool_pauseparam pause;
	u8 dcbx;
	u8 trust[2], ntrust;		/* the order of trust: plain, from Linux 6.2 on */
	bool resetting;			/* the firmware is being reset */
	bool unplugged;
	struct delayed_work link_up, reset_done;
	union fh_dcb_priv p;
};

static inline struct fh_eth *eth_of(const struct net_device *dev) { return netdev_priv(dev); }
static inline struct fh_quirks *quirks_of(struct fh_eth *e) { return &e->port->dev->hca->q; }
static inline struct fh_fw *fw_of(struct fh_eth *e) { return &e->port->dev->hca->fw[e->port->num]; }

/* A driver that can be played. */
struct fh_dcb {
	const char *name;		/* dcb=NAME */
	const char *driver;		/* of the PCI device, as in sysfs and rdma_device */
	const char *ethtool;		/* as ETHTOOL_GDRVINFO says it */
	u32 vendor, part;
	const char *hca_type, *fw;
	bool roce_v1;			/* a GID of each type, or of RoCE v2 alone */
	bool disassociates;		/* takes user contexts away when it is unloaded */
	bool slow_open;			/* no carrier before the link is trained, also after "up" */
	u8 tcs, lltc;			/* defaults */
	const char *agent_flag;		/* of ethtool: its agent in the firmware; flag_is_off: the flag turns it off */
	bool flag_is_off;
	const struct dcbnl_rtnl_ops *ops;
	void (*init)(struct fh_eth *e);		/* before the netdev is registered, and when a reset has ended */
	void (*started)(struct fh_eth *e);	/* after it was registered */
	void (*stopping)(struct fh_eth *e);	/* before it is unregistered */
	void (*link_lost)(struct fh_eth *e);	/* the cable was pulled */
};

extern const struct fh_dcb fh_dcb_plain, fh_dcb_mlx5, fh_dcb_mlx4, fh_dcb_mlx4pfc, fh_dcb_ice, fh_dcb_i40e, fh_dcb_bnxt, fh_dcb_hns3, fh_dcb_qede;

/* eth.c */
void fh_eth_retrain(struct fh_eth *e);	/* the link goes down, and comes back when it was trained */
void fh_eth_blink(struct fh_eth *e);	/* carrier off and on, with the link staying up */
void fh_eth_reopen(struct fh_eth *e);	/* dev_close() and dev_open(), as ice does */

/* dcb.c */
int fh_get_maxrate(struct net_device *dev, struct ieee_maxrate *v);
int fh_set_maxrate(struct net_device *dev, struct ieee_maxrate *v);
int fh_get_buffer(struct net_device *dev, struct dcbnl_buffer *v);
int fh_set_buffer(struct net_device *dev, struct dcbnl_buffer *v);
int fh_get_ets(struct net_device *dev, struct ieee_ets *v);
int fh_get_pfc(struct net_device *dev, struct ieee_pfc *v);
u8 fh_getdcbx(struct net_device *dev);
void fh_pfc_excludes_pause(struct fh_eth *e, u8 pfc_en);

#endif
