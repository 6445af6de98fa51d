/**
 * What a deployed process is run with, as a module that Node imports first, so that it asks stand-ins in the place of
 * Google: addresses by what the ones of Google begin with. The addresses are constants of the service.
 */
export const redirectGoogle = (standIns: Readonly<Record<string, string>>): string =>
  `data:text/javascript,${encodeURIComponent(`
    const standIns = Object.entries(${JSON.stringify(standIns)});
    const { fetch } = globalThis;
    globalThis.fetch = (input, init) => {
      const address = String(input);
      const found = standIns.find(([google]) => address.startsWith(google));
      return fetch(found ? found[1] + address.slice(found[0].length) : input, init);
    };
  `)}`;
