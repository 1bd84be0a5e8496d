// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: where an adapter hangs in the device tree, and under which driver's name.
 *
 * A QEMU "edu" device, where there is one, gives it a place on the PCI bus.  The drivers do nothing: they are there
 * because udev rules ask for DRIVERS=="?*", and because what drivers do is looked up by their names.  A sub-function is
 * an auxiliary device below the PCI device of its function, as mlx5's (mlx5/core/sf/dev/dev.c:72-132).
 */
#include "fake_hca.h"
#include "eth.h"
#include <linux/pci.h>
#include <linux/platform_device.h>

#define FH_DRIVERS 8

static const struct pci_device_id fh_pci_ids[] = { { PCI_DEVICE(0x1234, 0x11e8) }, {} };

static int fh_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id);
static void fh_pci_remove(struct pci_dev *pdev);
static int fh_plat_probe(struct platform_device *pdev) { return 0; }

struct pci_driver fh_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = fh_pci_ids,
	.probe = fh_pci_probe,
	.remove = fh_pci_remove,
};

struct platform_driver fh_plat_driver = {
	.driver = { .name = KBUILD_MODNAME },
	.probe = fh_plat_probe,
};

static const struct pci_device_id fh_no_ids[] = { {} };	/* by driver_override alone */
static struct pci_driver fh_named[FH_DRIVERS];
static const char *fh_named_names[FH_DRIVERS];
static struct task_struct *fh_binding;	/* holds fh_hcas_lock while it binds another driver */

const char *fh_driver_name(const struct fh_hca *hca)
{
	return *hca->q.driver ? hca->q.driver : hca->kind == FH_ROCE || hca->kind == FH_IWARP ? hca->q.dcb->driver : KBUILD_MODNAME;
}

/* Adapter i sits in slot 16 + i. */
static int fh_slot(const struct pci_dev *pci) { return PCI_SLOT(pci->devfn) - 16; }

static int fh_register_driver(const char *name)
{
	int i, ret;

	if (!strcmp(name, KBUILD_MODNAME))
		return 0;
	for (i = 0; i < FH_DRIVERS && fh_named_names[i]; i++)
		if (!strcmp(fh_named_names[i], name))
			return 0;
	if (i == FH_DRIVERS)
		return -ENOSPC;
	fh_named_names[i] = kstrdup(name, GFP_KERNEL);
	if (!fh_named_names[i])
		return -ENOMEM;
	memset(&fh_named[i], 0, sizeof(fh_named[i]));
	fh_named[i].name = fh_named_names[i];
	fh_named[i].id_table = fh_no_ids;
	fh_named[i].probe = fh_pci_probe;
	fh_named[i].remove = fh_pci_remove;
	ret = pci_register_driver(&fh_named[i]);
	if (ret) {	/* the real one is loaded */
		kfree(fh_named_names[i]);
		fh_named_names[i] = NULL;
	}
	return ret;
}

void fh_drivers_exit(void)
{
	int i;

	for (i = 0; i < FH_DRIVERS && fh_named_names[i]; i++) {
		pci_unregister_driver(&fh_named[i]);
		kfree(fh_named_names[i]);
		fh_named_names[i] = NULL;
	}
}

/* The slot's device gets the driver that the adapter wants to have. */
static void fh_bind(struct fh_hca *hca)
{
	const char *want = fh_driver_name(hca);

	fh_binding = current;
	if (!fh_register_driver(want) && (!hca->pci->dev.driver || strcmp(hca->pci->dev.driver->name, want)) &&
	    !fh_set_override(hca->pci, want)) {
		device_release_driver(&hca->pci->dev);
		if (device_attach(&hca->pci->dev) != 1)
			pr_warn("%s: no driver %s\n", hca->name, want);
	}
	fh_binding = NULL;
}

/* ---- sub-functions -------------------------------------------------------------------------------------- */

static ssize_t sfnum_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_auxiliary_dev(dev)->id);
}
static DEVICE_ATTR_RO(sfnum);

static struct attribute *fh_sf_attrs[] = { &dev_attr_sfnum.attr, NULL };
ATTRIBUTE_GROUPS(fh_sf);

static const struct auxiliary_device_id fh_sf_ids[] = { { .name = "mlx5_core.sf" }, {} };
static int fh_sf_probe(struct auxiliary_device *aux, const struct auxiliary_device_id *id) { return 0; }
static struct auxiliary_driver fh_sf_driver = { .name = "sf", .probe = fh_sf_probe, .id_table = fh_sf_ids };
static bool fh_sf_registered;

static void fh_sf_release(struct device *dev) { kfree(to_auxiliary_dev(dev)); }

static int fh_sf_add(struct fh_hca *hca)
{
	struct fh_hca *pf = fh_find(hca->q.sf_of);
	struct auxiliary_device *aux;
	int ret;

	if (!pf || !pf->parent)
		return -ENODEV;
	if (!fh_sf_registered && !__auxiliary_driver_register(&fh_sf_driver, THIS_MODULE, "mlx5_core"))
		fh_sf_registered = true;
	aux = kzalloc(sizeof(*aux), GFP_KERNEL);
	if (!aux)
		return -ENOMEM;
	aux->id = hca->index;
	aux->name = "sf";
	aux->dev.parent = pf->parent;
	aux->dev.release = fh_sf_release;
	aux->dev.groups = fh_sf_groups;
	ret = auxiliary_device_init(aux);
	if (ret) {
		kfree(aux);
		return ret;
	}
	ret = __auxiliary_device_add(aux, "mlx5_core");
	if (ret) {
		auxiliary_device_uninit(aux);
		return ret;
	}
	hca->aux = aux;
	hca->parent = &aux->dev;
	return 0;
}

void fh_sf_exit(void)
{
	if (fh_sf_registered)
		auxiliary_driver_unregister(&fh_sf_driver);
	fh_sf_registered = false;
}

/* ---- the place of an adapter ------------------------------------------------------------------------------ */

int fh_parent(struct fh_hca *hca)
{
	struct pci_dev *pci = NULL;
	int ret;

	if (*hca->q.sf_of) {
		ret = fh_sf_add(hca);
		if (ret)
			return ret;
		goto done;
	}
	/* Two devices of one function: mlx5's multi-plane ports with an SMI device, Linux 6.12, mlx5/main.c:4850. */
	if (*hca->q.beside) {
		const struct fh_hca *other = fh_find(hca->q.beside);

		if (!other || !other->pci)
			return -ENODEV;
		hca->parent = other->parent;
		return 0;
	}
	while ((pci = pci_get_device(0x1234, 0x11e8, pci)))	/* drops the previous one */
		if (fh_slot(pci) == hca->index)
			break;
	if (pci) {
		hca->pci = pci;
		hca->parent = &pci->dev;
		fh_bind(hca);
	} else {
		hca->plat = platform_device_register_simple(KBUILD_MODNAME, hca->index, NULL, 0);
		if (IS_ERR(hca->plat)) {
			ret = PTR_ERR(hca->plat);
			hca->plat = NULL;
			return ret;
		}
		hca->parent = &hca->plat->dev;
	}
done:
	dev_set_drvdata(hca->parent, hca);
	return 0;
}

void fh_unparent(struct fh_hca *hca)
{
	if (!*hca->q.beside)
		dev_set_drvdata(hca->parent, NULL);
	pci_dev_put(hca->pci);
	platform_device_unregister(hca->plat);
	if (hca->aux) {
		auxiliary_device_delete(hca->aux);
		auxiliary_device_uninit(hca->aux);
	}
	hca->pci = NULL;
	hca->plat = NULL;
	hca->aux = NULL;
	hca->parent = NULL;
}

/* A sub-function of the adapter there, or a second device of it. */
bool fh_hangs_on(const struct fh_hca *hca, const struct device *parent)
{
	return (hca->aux && hca->parent->parent == parent) || (*hca->q.beside && hca->parent == parent);
}

/* The slot came back after a removal (a rescan of the bus): so does the adapter, under its driver's name. */
static int fh_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct fh_hca *hca;
	int ret = 0;

	if (fh_binding == current)
		return 0;
	mutex_lock(&fh_hcas_lock);
	list_for_each_entry(hca, &fh_hcas, node)
		if (hca->pci_gone && hca->index == fh_slot(pdev)) {
			if (!fh_has_override(pdev) && strcmp(fh_driver_name(hca), KBUILD_MODNAME) &&
			    !fh_register_driver(fh_driver_name(hca))) {
				/* The core holds the device's lock, and asks the other drivers next. */
				fh_set_override_locked(pdev, fh_driver_name(hca));
				ret = -ENODEV;
				break;
			}
			hca->pci_gone = false;
			hca->pci = pci_dev_get(pdev);
			hca->parent = &pdev->dev;
			dev_set_drvdata(hca->parent, hca);
			ret = fh_start(hca);
			break;
		}
	mutex_unlock(&fh_hcas_lock);
	return ret;
}

/* The adapter is pulled out of its slot: all that is above it has to go, whoever uses it; its sub-functions first. */
static void fh_pci_remove(struct pci_dev *pdev)
{
	struct fh_hca *hca, *sf, *tmp;

	if (fh_binding == current)
		return;
	mutex_lock(&fh_hcas_lock);
	list_for_each_entry(hca, &fh_hcas, node)
		if (hca->pci == pdev) {
			list_for_each_entry_safe(sf, tmp, &fh_hcas, node)
				if (sf != hca && fh_hangs_on(sf, &pdev->dev))
					fh_del(sf);
			fh_stop(hca);
			fh_unparent(hca);
			hca->pci_gone = true;
			break;
		}
	mutex_unlock(&fh_hcas_lock);
}
