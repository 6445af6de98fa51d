import { type Config, parseConfig } from '#functions/config.ts';
import { serviceConstants, type ServiceConstants } from '#functions/config/constants.ts';

/** A constant of the service, as a text gives it. */
const readConstant = (name: keyof ServiceConstants, text: string) =>
  typeof serviceConstants[name] === 'number' ? Number(text) : text;

/**
 * The configuration of functions on this machine: as deployed, but constants of the service can be set by their names as
 * well, since nobody who tests with them waits for a lease of a minute. Throws AppError INVALID_CONFIGURATION.
 */
export function localConfig(settings: Readonly<Record<string, string | undefined>>): Config {
  const constants = (Object.keys(serviceConstants) as (keyof ServiceConstants)[]).flatMap(
    (name) => {
      const text = settings[name];
      return text === undefined || text === '' ? [] : [[name, readConstant(name, text)] as const];
    },
  );
  return parseConfig(settings, Object.fromEntries(constants));
}
