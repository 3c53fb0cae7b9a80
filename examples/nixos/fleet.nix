# Five agents, each in a NixOS container of its own: without a network, with its workspace alone, and with limits.
# On the host `harnessctl --agent reviewer-1 status` speaks to the one in the container, and
# `machinectl shell reviewer-1` goes there.
{ lib, pkgs, ... }:
let
  numbers = lib.range 1 5;
  name = number: "reviewer-${toString number}";
in
{
  services.harnessd.agents = lib.listToAttrs (
    map (
      number:
      lib.nameValuePair (name number) {
        workspace = "/srv/agents/${name number}";
        admins = [ "alice" ];
        path = [ pkgs.git ];
        container.enable = true;
        resources = {
          MemoryMax = "4G";
          CPUQuota = "100%";
        };
        settings.bash.max_tasks = 20;
      }
    ) numbers
  );

  # A user is a number to files and sockets: it is the same on both sides.
  users.users = {
    alice = {
      isNormalUser = true;
      uid = 1000;
    };
  }
  // lib.listToAttrs (map (number: lib.nameValuePair (name number) { uid = 4000 + number; }) numbers);
}
