# A switch to a system with another setting reloads the daemon: neither it nor the keeper starts anew, and a task
# runs on.
{ lib, ... }:
{
  nodes.machine = {
    imports = [ ../../../examples/nixos/one-agent.nix ];
    specialisation.traced.configuration = {
      services.harnessd.agents.coder.settings.trace = true;
    };
    specialisation.granted.configuration = {
      services.harnessd.agents.coder.credentials.token = "/etc/token";
      environment.etc.token.text = "not a secret";
    };
  };

  testScript = ''
    def pid(unit):
        return machine.succeed(f"systemctl show --value -p MainPID {unit}").strip()

    machine.wait_for_unit("harnessd@coder.service")
    daemon, keeper = pid("harnessd@coder"), pid("harness-keeper@coder")
    task = machine.succeed("harnessctl --agent coder --json run --wait=0 -- 'sleep 300'")

    machine.succeed("/run/booted-system/specialisation/traced/bin/switch-to-configuration test")
    assert pid("harnessd@coder") == daemon, "a setting is no reason to restart"
    assert pid("harness-keeper@coder") == keeper
    machine.succeed("harnessctl --agent coder run --wait=5 -- true")
    machine.succeed("test -s /var/lib/harnessd/coder/trace.ndjson")

    machine.succeed("/run/booted-system/specialisation/granted/bin/switch-to-configuration test")
    machine.wait_for_unit("harnessd@coder.service")
    assert pid("harnessd@coder") != daemon, "a new credential needs a restart"
    assert pid("harness-keeper@coder") == keeper, "the keeper is left alone"
    machine.succeed("harnessctl --agent coder list | grep running")
  '';
  skipTypeCheck = true;
}
