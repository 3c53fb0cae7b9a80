//! A new configuration for a running daemon.

use crate::{
    config::{Changes, Config},
    harness::Harness,
};

impl Harness {
    /// Reads the files again and puts in force what changed. A bad file changes nothing.
    ///
    /// # Errors
    /// Everything that is wrong with the files, as `harnessd --check` says it.
    pub(crate) fn reload(&self) -> Result<(), String> {
        let loaded = match Config::load(&self.places) {
            Ok(loaded) => loaded,
            Err(diagnostics) => {
                let text = diagnostics.render(false);
                tracing::error!(
                    "the configuration was not reloaded, the old one stays in force:\n{text}"
                );
                self.set_reload_error(Some(text.clone()));
                return Err(text);
            }
        };
        let changes = Changes::between(&self.in_force().loaded, &loaded);
        for part in changes.needing_restart() {
            tracing::warn!(
                "{} takes effect with the next start of the daemon",
                part.as_str()
            );
        }
        if !loaded.warnings.is_empty() {
            tracing::warn!("{}", loaded.warnings.render(false));
        }
        tracing::info!("configuration reloaded: {changes} changed");
        self.configure(loaded);
        Ok(())
    }
}
