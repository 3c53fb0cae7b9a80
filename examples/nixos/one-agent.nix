# One agent. In a flake: inputs.harnessd.nixosModules.default and inputs.harnessd.overlays.default.
{ pkgs, ... }:
{
  services.harnessd.agents.coder = {
    workspace = "/srv/coder";
    path = [ pkgs.git ];
    tools.shell.mode = "allowlist";
    tools.shell.allowlist = [ "git status" ];
  };
}
