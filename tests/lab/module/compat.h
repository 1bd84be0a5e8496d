/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces of the kernel that differ between 6.1 and 7.2; nothing else asks for the version. */
#ifndef FAKE_HCA_COMPAT_H
#define FAKE_HCA_COMPAT_H

#include <linux/pci.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>

/* 6.11: create_cq gets all attributes of a user's call. Both are NULL for a kernel's queue. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
typedef struct uverbs_attr_bundle fh_cq_user;
#else
typedef struct ib_udata fh_cq_user;
#endif

/* 6.2: the order of trust (dcb apptrust), with DCB_APP_SEL_PCP. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define FH_APPTRUST
#endif

/* The driver that a device is to have, in struct device in newer kernels and in stable updates of older ones (the Makefile looks). */
static inline bool fh_has_override(struct pci_dev *pdev)
{
#ifdef FH_DEVICE_OVERRIDE
	return device_has_driver_override(&pdev->dev);
#else
	return pdev->driver_override;
#endif
}

static inline int fh_set_override(struct pci_dev *pdev, const char *name)
{
#ifdef FH_DEVICE_OVERRIDE
	return device_set_driver_override(&pdev->dev, name);
#else
	return driver_set_override(&pdev->dev, &pdev->driver_override, name, strlen(name));
#endif
}

/* The same for a caller that holds the device's lock. */
static inline void fh_set_override_locked(struct pci_dev *pdev, const char *name)
{
#ifdef FH_DEVICE_OVERRIDE
	device_set_driver_override(&pdev->dev, name);
#else
	pdev->driver_override = kstrdup(name, GFP_KERNEL);
#endif
}

/* 6.17: reg_user_mr gets a handle for DMA. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define FH_DMA_HANDLE struct ib_dmah *dmah,
#else
#define FH_DMA_HANDLE
#endif

#endif
