# One agent in a NixOS container of its own: its harness, its user, its workspace, and no network.
{
  lib,
  schema,
  nixosModule,
}:
{
  name,
  agent,
  # As an absolute path.
  workspace,
  # The host's `config`.
  host,
}:
let
  inherit (agent) container;
  user = host.users.users.${agent.user};
  admins = lib.filter (admin: admin != agent.user) (
    if agent.settings.control.admins == null then [ ] else agent.settings.control.admins
  );
  credentialPath = credential: "/run/host-credentials/${credential}";
  runtime = "/run/harnessd/${name}";

  mount = path: {
    hostPath = path;
    isReadOnly = false;
  };
in
{
  autoStart = true;
  privateNetwork = container.privateNetwork;
  # Landlock's system calls; older versions of systemd-nspawn do not let them through.
  extraFlags = [ "--system-call-filter=@sandbox" ];

  bindMounts = {
    ${workspace} = mount workspace;
    # The sockets: `harnessctl --agent ${name}` on the host finds them where they always are.
    ${runtime} = mount runtime;
  }
  // lib.mapAttrs' (
    credential: path:
    lib.nameValuePair (credentialPath credential) {
      hostPath = toString path;
      isReadOnly = true;
    }
  ) agent.credentials
  // container.bindMounts;

  config = {
    imports = [
      nixosModule
      container.config
    ];

    # A user is a number to a file and a socket: inside it has the one it has outside.
    users.users = {
      ${agent.user} = {
        inherit (user) uid;
      }
      // lib.optionalAttrs (agent.user != name) {
        isSystemUser = true;
        inherit (user) group home;
        useDefaultShell = true;
      };
    }
    // lib.genAttrs admins (admin: {
      isNormalUser = true;
      inherit (host.users.users.${admin}) uid;
      home = "/var/empty";
      createHome = false;
    });
    users.groups.${user.group}.gid = host.users.groups.${user.group}.gid or null;

    services.harnessd = {
      package = lib.mkDefault agent.package;
      agents.${name} = {
        inherit (agent)
          package
          user
          group
          daemonUser
          path
          ;
        settings = schema.prune agent.settings;
        credentials = lib.mapAttrs (credential: _: credentialPath credential) agent.credentials;
      };
    };

    system.stateVersion = lib.mkDefault host.system.stateVersion;
  };
}
