# An agent in its container: no network, its own workspace, and a person on the host who can steer it.
{
  nodes.machine = {
    imports = [ ../../../examples/nixos/fleet.nix ];
    virtualisation.memorySize = 4096;
    services.harnessd.agents = {
      reviewer-2.enable = false;
      reviewer-3.enable = false;
      reviewer-4.enable = false;
      reviewer-5.enable = false;
    };
  };

  testScript = ''
    machine.wait_for_unit("container@reviewer-1.service")
    machine.wait_for_file("/run/harnessd/reviewer-1/control.sock")
    machine.succeed("runuser -u alice -- harnessctl --agent reviewer-1 status")
    machine.succeed("runuser -u alice -- harnessctl --agent reviewer-1 run --wait=10 -- 'touch made; git --version'")
    machine.succeed("test -e /srv/agents/reviewer-1/made")
    machine.fail("harnessctl --agent reviewer-1 run --wait=10 -- 'exec 3<>/dev/tcp/10.0.2.2/80'")
    machine.fail("runuser -u nobody -- harnessctl --agent reviewer-1 status")
  '';
  skipTypeCheck = true;
}
