"""Largest resident memory of this process, for the peers of `pnpm bench`."""

import resource


def peak_mebibytes():
    try:
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    except OSError:  # only Linux has this file
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
