# The smallest example: the harness starts, a task outlives a restart of the daemon, and systemd's own judgement
# of the daemon's lock-down is as good as in the unit file.
{
  nodes.machine = ../../../examples/nixos/one-agent.nix;

  testScript = ''
    import json

    machine.wait_for_unit("harnessd@coder.service")
    machine.succeed("harnessctl --agent coder status")
    machine.succeed("test $(stat -c %U /srv/coder) = coder")

    started = machine.succeed("harnessctl --agent coder --json run --wait=0 -- 'git --version; id -un; sleep 300'")
    task = json.loads(started)["id"]
    machine.succeed("systemctl restart harnessd@coder")
    machine.wait_for_unit("harnessd@coder.service")
    machine.succeed(f"harnessctl --agent coder list | grep {task} | grep running")
    output = machine.succeed(f"harnessctl --agent coder output {task}")
    assert "git version" in output and "coder" in output, output
    machine.succeed(f"harnessctl --agent coder stop {task}")

    machine.succeed("systemd-analyze security --threshold=6 harnessd@coder.service")
  '';

  skipTypeCheck = true;
}
