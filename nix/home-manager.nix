# `services.harnessd` of a user: harnesses in the user's session, without root.
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.harnessd;
  schema = import ./module/schema.nix { inherit lib; };
  faults = import ./module/faults.nix { inherit lib schema; };
  prefix = "services.harnessd.agents";
  enabled = lib.filterAttrs (_: agent: agent.enable) cfg.agents;

  configFile =
    name: agent:
    import ./module/config-file.nix { inherit lib pkgs; } {
      inherit name;
      inherit (agent) package;
      settings = schema.prune agent.settings;
      home = config.home.homeDirectory;
      mode = "user";
      option = "${prefix}.${name}";
    };

  overrides =
    agent:
    let
      path = agent.path ++ [
        pkgs.bash
        pkgs.coreutils
        pkgs.findutils
        pkgs.gnugrep
        pkgs.gnused
      ];
    in
    lib.concatLines (
      [
        "[Service]"
        ''Environment="PATH=${lib.makeBinPath path}"''
      ]
      ++ lib.mapAttrsToList (name: file: "LoadCredential=${name}:${toString file}") agent.credentials
      ++ lib.optionals (agent.package.outPath != cfg.package.outPath) [
        "ExecStart="
        "ExecStart=${agent.package}/bin/harnessd --user --agent %i"
      ]
    );

  # systemd takes a unit's name from the last file that a link leads to, and the instance from the link.
  ofAgent = name: agent: {
    "harnessd/${name}.toml" = {
      source = configFile name agent;
      onChange = ''
        ${config.systemd.user.systemctlPath} --user try-reload-or-restart harnessd@${name}.service || true
      '';
    };
    "systemd/user/harnessd@${name}.service.d/overrides.conf".text = overrides agent;
    "systemd/user/default.target.wants/harnessd@${name}.service".source =
      "${cfg.package}/share/systemd/user/harnessd@.service";
  };
in
{
  options.services.harnessd = {
    package = lib.mkOption {
      type = lib.types.package;
      default = pkgs.harnessd;
      defaultText = lib.literalExpression "pkgs.harnessd";
      description = "The harnessd of all agents that have none of their own; its unit files are the ones that are used.";
    };

    agents = lib.mkOption {
      type = lib.types.attrsOf (
        lib.types.submodule (
          import ./module/agent.nix {
            inherit lib pkgs schema;
            defaultPackage = cfg.package;
          }
        )
      );
      default = { };
      description = "Agents of this user, each with a harness of its own: `systemctl --user status harnessd@NAME`.";
    };
  };

  config = lib.mkIf (enabled != { }) {
    assertions = faults.assertions prefix enabled;
    home.packages = [ cfg.package ];
    systemd.user.packages = [ cfg.package ];
    xdg.configFile = lib.mkMerge (lib.mapAttrsToList ofAgent enabled);
  };
}
