import type { App } from '../state/app.ts';

/** One value for each app, made when it is asked for first: state of a tab that outlives its being shown. */
export function perApp<T>(make: (app: App) => T): (app: App) => T {
  const made = new WeakMap<App, { value: T }>();
  return (app) => {
    const known = made.get(app) ?? { value: make(app) };
    made.set(app, known);
    return known.value;
  };
}
