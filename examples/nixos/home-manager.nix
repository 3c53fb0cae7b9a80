# An agent in a user's session, without root: inputs.harnessd.homeManagerModules.default.
# `systemctl --user status harnessd@coder`, `harnessctl --agent coder status`.
{ pkgs, ... }:
{
  services.harnessd.agents.coder = {
    workspace = "~/work";
    path = [ pkgs.git ];
    mcpServers.nixos.preset = "nixos";
    sandbox.hidden = [ "~/.ssh" ];
  };
}
