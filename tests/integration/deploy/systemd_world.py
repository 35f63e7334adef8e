"""A machine with a systemd of its own: namespaces and a control group over this one's files, which it cannot change."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "service"))

from service_world import PROGRAMS, wait_for  # noqa: E402 (the path comes first)

DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "deploy"
GROUPS = pathlib.Path("/sys/fs/cgroup")

# In a mount namespace: of this machine's devices those that do nothing, its kernel's settings only to be read, and of
# its control groups the one that is ours.
BOOT = """\
set -e
ip link set lo up
cd {root}
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t tmpfs dev dev
mkdir dev/shm dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mount -t tmpfs run run
mount --bind /sys sys
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
else
  mount -t tmpfs cgroup sys/fs/cgroup
  for name in {hierarchies}; do
    mkdir sys/fs/cgroup/$name
    case $name in
      unified) mount -t cgroup2 cgroup2 sys/fs/cgroup/$name ;;
      systemd) mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/$name ;;
      *) mount -t cgroup -o $name cgroup sys/fs/cgroup/$name ;;
    esac
  done
fi
mount -o remount,bind,ro sys
exec chroot . env --ignore-environment container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
  /lib/systemd/systemd --system --show-status=no
"""


def call(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"


class Machine:
    """With units and settings of deploy/ in their places, as docs/operations.md says; `close` leaves nothing of it,
    however far `boot` came."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="leadline-systemd-"))
        self.root = self.folder / "root"
        self.groups = []
        self.outside = None  # the process that holds the namespaces
        self.systemd = None  # its child, the first of the machine

    def boot(self):
        call("mount", "-t", "tmpfs", "leadline-systemd", self.folder)
        for name in ("root", "upper", "scratch"):
            (self.folder / name).mkdir()
        layers = f"lowerdir=/,upperdir={self.folder}/upper,workdir={self.folder}/scratch"
        call("mount", "-t", "overlay", "overlay", "-o", layers, self.root)
        self.install()
        self.make_groups()
        self.start()

    def install(self):
        build = self.root / "opt/leadline/build"
        build.mkdir(parents=True)
        # Itself, not a link: where it lies a service may not be able to look (PrivateTmp=).
        call("mount", "--bind", PROGRAMS, build)
        call("mount", "-o", "remount,bind,ro", build)
        # LibTorch lies in /opt, too, where it is installed for a service.
        torch = pathlib.Path(os.environ.get("LEADLINE_TORCH_ROOT") or pathlib.Path.home() / ".cache/leadline")
        for folder in (torch, *torch.parents[:-1]):
            inside = self.root / folder.relative_to("/")
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

    def make_groups(self):
        """One of our own in each hierarchy that this machine has and systemd uses."""
        if (GROUPS / "cgroup.controllers").exists():
            places = [GROUPS]
        else:
            places = [GROUPS / name for name in ("systemd", "unified", "memory", "pids")]
        for place in places:
            if (place / "cgroup.procs").exists():
                group = place / f"leadline-test-{os.getpid()}"
                group.mkdir()
                self.groups.append(group)

    def start(self):
        def enter():
            for group in self.groups:
                (group / "cgroup.procs").write_text("0")
        boot = BOOT.format(root=self.root, hierarchies=" ".join(group.parent.name for group in self.groups))
        spaces = ("--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup", "--fork", "--kill-child")
        with (self.folder / "console").open("w") as console:
            self.outside = subprocess.Popen(["unshare", *spaces, "sh", "-c", boot], stdin=subprocess.DEVNULL,
                                            stdout=console, stderr=console, preexec_fn=enter)
        wait_for(self.is_up, self.console)

    def is_up(self):
        children = pathlib.Path(f"/proc/{self.outside.pid}/task/{self.outside.pid}/children").read_text().split()
        # Before it is systemd it is a shell whose root is this machine's.
        if not children or pathlib.Path(f"/proc/{children[0]}/comm").read_text().strip() != "systemd":
            return False
        self.systemd = children[0]
        return self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def console(self):
        return "systemd to boot: " + (self.folder / "console").read_text(errors="replace")[-4000:]

    def run(self, *words):
        """A command on that machine, as root."""
        return subprocess.run(["nsenter", "--target", self.systemd, "--all", "--root", "--wd", *map(str, words)],
                              capture_output=True, text=True, check=False)

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
        if self.outside:
            self.outside.send_signal(signal.SIGKILL)
            self.outside.wait()
        for place in (self.root, self.folder):
            subprocess.run(["umount", "--recursive", "--lazy", place], check=False, capture_output=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()
        for group in self.groups:
            wait_for(lambda group=group: self.remove(group), "processes of that machine to end")

    def remove(self, group):
        """True once it and all below it are gone; processes take a moment to end."""
        folders = [pathlib.Path(name) for name, _, _ in os.walk(group, topdown=False)]
        with contextlib.suppress(OSError):
            for folder in folders:
                folder.rmdir()
        return not group.exists()
