"""A machine with a systemd of its own: namespaces over this one's files, which it cannot change."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[3]
DEPLOY = TREE / "deploy"
PROGRAMS = pathlib.Path(os.environ["LEADLINE_PROGRAMS"])
PATIENCE_S = 60

BOOT = """\
set -e
ip link set lo up
mount -t proc proc {root}/proc
mount --rbind /sys {root}/sys
mount --rbind /dev {root}/dev
mount -t tmpfs run {root}/run
mount -t tmpfs tmp {root}/tmp
exec chroot {root} env --ignore-environment container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
  /lib/systemd/systemd --system --show-status=no
"""


def call(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def wait_for(holds, what):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        answer = holds()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE_S} s for {what()}")


class Machine:
    """Booted with units and settings of deploy/ in their places, as docs/operations.md says; left by `close`."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="leadline-systemd-"))
        self.root = self.folder / "root"
        self.systemd = None
        call("mount", "-t", "tmpfs", "leadline-systemd", self.folder)
        for name in ("root", "upper", "work"):
            (self.folder / name).mkdir()
        layers = f"lowerdir=/,upperdir={self.folder}/upper,workdir={self.folder}/work"
        call("mount", "-t", "overlay", "overlay", "-o", layers, self.root)
        self.install()
        self.boot()

    def install(self):
        opt = self.root / "opt/leadline"
        opt.mkdir(parents=True)
        (opt / "build").symlink_to(PROGRAMS)
        # A clone and LibTorch lie in /opt where they are installed for a service.
        torch = pathlib.Path(os.environ.get("LEADLINE_TORCH_ROOT") or pathlib.Path.home() / ".cache/leadline")
        for path in (PROGRAMS, torch):
            for folder in (path, *path.parents):
                inside = self.root / folder.relative_to("/")
                if inside != self.root:
                    inside.chmod(inside.stat().st_mode | 0o111)
        call("useradd", "--root", self.root, "--system", "--home-dir", "/var/lib/leadline", "leadline")
        etc = self.root / "etc/leadline"
        etc.mkdir()
        for name in ("coordinator", "agent"):
            shutil.copy(DEPLOY / "examples" / f"{name}.conf", etc)
            shutil.copy(DEPLOY / "systemd" / f"leadline-{name}.service", self.root / "etc/systemd/system")
        target = self.root / "etc/systemd/system/default.target"
        target.unlink(missing_ok=True)
        target.symlink_to("/lib/systemd/system/multi-user.target")

    def boot(self):
        spaces = ("--mount", "--pid", "--ipc", "--uts", "--net", "--fork", "--kill-child")
        self.unshare = subprocess.Popen(["unshare", *spaces, "sh", "-c", BOOT.format(root=self.root)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        def booted():
            children = pathlib.Path(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children").read_text().split()
            if children:
                self.systemd = children[0]
            return self.systemd and self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")
        wait_for(booted, lambda: "systemd to boot")

    def run(self, *words, **options):
        """A command on that machine, as root."""
        return subprocess.run(["nsenter", "--target", self.systemd, "--all", "--root", "--wd", *map(str, words)],
                              capture_output=True, text=True, check=False, **options)

    def leadline(self, *words, exit_code=0):
        """What it says to somebody who has an account there and nothing else."""
        done = self.run("runuser", "-u", "nobody", "--", "env", "LEADLINE_COORDINATOR=127.0.0.1:7070",
                        "LC_ALL=C.UTF-8", "/opt/leadline/build/leadline", *words)
        assert done.returncode == exit_code, f"{words}: {done.stdout}{done.stderr}{self.journal()}"
        return done.stdout + done.stderr

    def systemctl(self, *words):
        return self.run("systemctl", *words)

    def shown(self, unit, *properties):
        text = self.systemctl("show", unit, *(f"--property={name}" for name in properties)).stdout
        return dict(line.split("=", 1) for line in text.splitlines())

    def journal(self):
        return self.run("journalctl", "--no-pager", "--lines=60", "--output=cat", "--unit=leadline-*").stdout

    def path(self, inside):
        """Seen from this machine."""
        return pathlib.Path(f"/proc/{self.systemd}/root{inside}")

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.unshare.send_signal(signal.SIGKILL)
        self.unshare.wait()
        self.unshare.stdout.close()
        for place in (self.root, self.folder):
            subprocess.run(["umount", "--recursive", "--lazy", place], check=False)
        self.folder.rmdir()
