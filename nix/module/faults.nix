# What can be wrong in an agent's options, each with a message that names the option and says what to write
# instead. Pure: from the agents to `assertions`, the same for the system and for a user.
{ lib, schema }:
let
  nearest =
    word: words:
    let
      distance = lib.strings.levenshtein word;
      near = lib.filter (one: distance one <= 2) words;
      sorted = lib.sort (a: b: distance a < distance b) near;
    in
    lib.optionalString (near != [ ]) "; did you mean `${lib.head sorted}`?";

  fault = holds: message: {
    assertion = holds;
    inherit message;
  };

  isInStore = path: lib.isPath path || lib.hasPrefix "${builtins.storeDir}/" (toString path);

  unknownKeys =
    option: agent:
    map (
      unknown:
      let
        key = lib.last unknown.path;
        table = lib.showOption (lib.init unknown.path);
        place = "${option}.settings" + lib.optionalString (table != "") ".${table}";
      in
      fault false "${place}: there is no key `${key}`${nearest key unknown.known}"
    ) (schema.unknownKeys (schema.prune agent.settings));

  toolGroups =
    option: agent:
    let
      known = schema.builtInGroups ++ lib.attrNames agent.settings.plugin;
      given = agent.settings.tool_groups;
    in
    map (
      group:
      fault (lib.elem group known) "${option}.toolGroups: there is no tool group `${group}`${nearest group known}: add the plugin that has it, or remove it"
    ) (if given == null then [ ] else given);

  secrets =
    option: agent:
    lib.mapAttrsToList (
      name: path:
      fault (!isInStore path)
        "${option}.credentials.${name}: ${toString path} is ${lib.optionalString (lib.isPath path) "a path of Nix's own, so that a copy of it is "}in the Nix store, where every user can read it: give the path of a file outside of it as a string, as sops-nix, agenix or systemd-creds make one"
    ) agent.credentials
    ++
      lib.concatMap
        (
          table:
          let
            file =
              (if agent.settings.${table} == null then { } else agent.settings.${table}).token_file or null;
            isName = file != null && !lib.hasInfix "/" file;
          in
          [
            (fault (file == null || !isInStore file)
              "${option}.settings.${table}.token_file: ${toString file} is in the Nix store, where every user can read it: put the token into credentials, and its name here"
            )
            (fault (!isName || agent.credentials ? ${file})
              "${option}.settings.${table}.token_file: there is no credential `${toString file}`${nearest (toString file) (lib.attrNames agent.credentials)}: add it to credentials"
            )
          ]
        )
        [
          "control"
          "mcp_http"
        ];

  servers =
    option: agent:
    lib.concatLists (
      lib.mapAttrsToList (
        name: server:
        let
          place = "${option}.mcpServers.${name}";
          hasCommand = (server.command or null) != null && server.command != [ ];
          hasUrl = (server.url or null) != null;
        in
        [
          (fault (hasCommand != hasUrl)
            "${place}: ${
              if hasUrl then "it has a url and a command" else "it has neither a command nor a url"
            }: set one of preset, package, command and url"
          )
        ]
        ++ lib.mapAttrsToList (
          variable: value:
          fault (!isSecret variable value)
            "${place}.environment.${variable}: it looks like a secret, and would be in the Nix store, where every user can read it: put it into a file outside of it, name that in ${option}.credentials, and the credential in ${place}.credentials.${variable}"
        ) (if server.environment or null == null then { } else server.environment)
        ++ lib.mapAttrsToList (
          variable: credential:
          fault (agent.credentials ? ${credential})
            "${place}.credentials.${variable}: there is no credential `${credential}`${nearest credential (lib.attrNames agent.credentials)}: add it to ${option}.credentials"
        ) (if server.credentials or null == null then { } else server.credentials)
      ) agent.settings.mcp
    );

  # The value of a variable is written into the store.
  isSecret =
    variable: value:
    builtins.match ".*(TOKEN|SECRET|PASSWORD|API_?KEY|ACCESS_KEY|PRIVATE_KEY)" (lib.toUpper variable)
    != null
    && !lib.hasPrefix "/" value;

  # A program is looked up as it stands, spaces and all: `"server stdio"` is one word.
  commands =
    option: agent:
    let
      inherit (agent) settings;
      of = place: words: { inherit place words; };
      all =
        lib.mapAttrsToList (name: one: of "mcpServers.${name}.command" (one.command or null)) settings.mcp
        ++ lib.imap0 (index: one: of "hooks.[${toString index}].command" (one.command or null)) (
          if settings.hook == null then [ ] else settings.hook
        )
        ++ [
          (of "turn.command" (if settings.turn == null then null else settings.turn.command))
          (of "approval.rater" settings.approval.rater)
        ];
      given = lib.filter (one: one.words != null && one.words != [ ]) all;
    in
    map (
      one:
      let
        program = lib.head one.words;
        words = lib.filter (word: word != "") (lib.splitString " " program);
        written = lib.concatMapStringsSep " " (word: ''"${word}"'') words;
      in
      fault (lib.length words < 2)
        ''${option}.${one.place}: the program "${program}" has a space in its name: write each argument as a string of its own, [ ${written} ]''
    ) given;

  sameWorkspace =
    prefix: agents:
    let
      places = lib.mapAttrsToList (name: agent: {
        inherit name;
        key = "${agent.user or ""}:${toString agent.settings.workspace}";
        set = agent.settings.workspace != null;
      }) agents;
      groups = lib.filter (group: lib.length group > 1) (
        lib.attrValues (lib.groupBy (place: place.key) (lib.filter (place: place.set) places))
      );
    in
    map (
      group:
      let
        names = lib.concatMapStringsSep " and " (place: "${prefix}.${place.name}") group;
      in
      fault false "${names} have the same workspace and the same user, so that each could stop and change what the other does: give one of them another workspace or user"
    ) groups;

  ofAgent =
    prefix: name: agent:
    let
      option = "${prefix}.${name}";
    in
    [
      (fault (builtins.match "[a-z0-9][a-z0-9-]{0,31}" name != null)
        "${option}: the name of an agent has 1 to 32 characters of a-z, 0-9 and -, and does not begin with -"
      )
    ]
    ++ unknownKeys option agent
    ++ toolGroups option agent
    ++ secrets option agent
    ++ servers option agent
    ++ commands option agent;
in
{
  # `prefix`: the option that the agents are in.
  assertions =
    prefix: agents:
    lib.concatLists (lib.mapAttrsToList (ofAgent prefix) agents) ++ sameWorkspace prefix agents;
}
