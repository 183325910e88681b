"""Measures on an NVIDIA GPU what turns of processes cannot change: whether kernels run on after a stop, and
what it costs to sleep (copy the memory to the host and back) and to take a snapshot (cuda-checkpoint).

    python3 bench/gpu/cuda.py            needs the driver (libcuda.so.1), nothing else

Prints a line for each figure.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time

KERNEL_MS = 5
KERNELS = 100
STOP_S = 2.0
GIGABYTES = (1, 8, 32)

# Runs for as many ns as its second argument says, and writes when it ended, by the device's clock.
SPIN = b"""
.version 6.0
.target sm_60
.address_size 64
.visible .entry spin(.param .u64 out, .param .u64 ns)
{
  .reg .u64 %rd<6>;
  .reg .pred %p;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [ns];
  mov.u64 %rd2, %globaltimer;
again:
  mov.u64 %rd3, %globaltimer;
  sub.u64 %rd4, %rd3, %rd2;
  setp.lt.u64 %p, %rd4, %rd1;
  @%p bra again;
  st.global.u64 [%rd0], %rd3;
  ret;
}
\0"""

try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    sys.exit(f"Cannot load the driver of NVIDIA: {error}")


def check(what, *arguments):
    status = getattr(cuda, what)(*arguments)
    if status != 0:
        raise RuntimeError(f"{what} failed with CUDA's error {status}")


def context():
    """Of the first device, for this process."""
    device, made = ctypes.c_int(), ctypes.c_void_p()
    check("cuInit", 0)
    check("cuDeviceGet", ctypes.byref(device), 0)
    check("cuDevicePrimaryCtxRetain", ctypes.byref(made), device)
    check("cuCtxSetCurrent", made)


def memory(size):
    pointer = ctypes.c_uint64()
    check("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
    return pointer


def spin():
    """Launches all kernels at once, says so, and then how long the device took, by its own clock."""
    context()
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    check("cuModuleLoadData", ctypes.byref(module), SPIN)
    check("cuModuleGetFunction", ctypes.byref(kernel), module, b"spin")
    stamps = memory(8 * KERNELS)
    for i in range(KERNELS):
        words = (ctypes.c_uint64(stamps.value + 8 * i), ctypes.c_uint64(KERNEL_MS * 1_000_000))
        pointers = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.byref(word), ctypes.c_void_p) for word in words))
        check("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, pointers, None)
    print("launched", flush=True)
    check("cuCtxSynchronize")
    found = (ctypes.c_uint64 * KERNELS)()
    check("cuMemcpyDtoH_v2", found, stamps, ctypes.c_size_t(8 * KERNELS))
    print((found[KERNELS - 1] - found[0]) / 1e6, flush=True)


def hold(size):
    """Keeps memory of the device until its standard input ends."""
    context()
    memory(size)
    print("held", flush=True)
    sys.stdin.read()


def sleep_cost(size):
    """Seconds to copy to pinned memory of the host, and back."""
    context()
    there, here = memory(size), ctypes.c_void_p()
    check("cuMemHostAlloc", ctypes.byref(here), ctypes.c_size_t(size), 0)
    from_s = time.monotonic()
    check("cuMemcpyDtoH_v2", here, there, ctypes.c_size_t(size))
    middle_s = time.monotonic()
    check("cuMemcpyHtoD_v2", there, here, ctypes.c_size_t(size))
    print(f"{middle_s - from_s:.3f} {time.monotonic() - middle_s:.3f}", flush=True)


def child(*words):
    command = [sys.executable, os.path.abspath(__file__), *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def measure():
    spinning = child("spin")
    try:
        spinning.stdout.readline()
        spinning.send_signal(signal.SIGSTOP)
        time.sleep(STOP_S)
        spinning.send_signal(signal.SIGCONT)
        took = float(spinning.stdout.readline())
    finally:
        spinning.kill()
        spinning.wait()
    meant = (KERNELS - 1) * KERNEL_MS
    says = "run on after a stop" if took < meant + 500 * STOP_S else "stand still during a stop"
    print(f"Kernels that are queued {says}: {took:.0f} ms of {meant} ms, with a stop of {STOP_S:.0f} s.")
    for gigabytes in GIGABYTES:
        size = gigabytes * 1_000_000_000
        sleeping = child("sleep", size)
        answer = sleeping.communicate()[0].split()
        if len(answer) != 2:
            print(f"{gigabytes} GB: not measured, the memory was not to be had.")
            continue
        print(f"{gigabytes} GB: {answer[0]} s to the host, {answer[1]} s back, pinned memory.")
        program = shutil.which("cuda-checkpoint")
        if program is None:
            continue
        holding = child("hold", size)
        try:
            holding.stdout.readline()
            times = []
            for _ in range(2):
                from_s = time.monotonic()
                subprocess.run([program, "--toggle", "--pid", str(holding.pid)], check=True)
                times.append(time.monotonic() - from_s)
            print(f"{gigabytes} GB: {times[0]:.3f} s for a snapshot, {times[1]:.3f} s to restore it.")
        finally:
            holding.kill()
            holding.wait()
    if shutil.which("cuda-checkpoint") is None:
        print("No cuda-checkpoint here: snapshots were not measured.")


if __name__ == "__main__":
    verbs = {"spin": spin, "hold": hold, "sleep": sleep_cost}
    verb, sizes = sys.argv[1:2], map(int, sys.argv[2:])
    try:
        (verbs[verb[0]] if verb else measure)(*sizes)
    except RuntimeError as error:
        sys.exit(f"bench/gpu/cuda.py: {error}")
