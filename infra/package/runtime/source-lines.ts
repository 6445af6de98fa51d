import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { once } from '#shared/lib/once.ts';

/** The place that a frame of the bundle was made of, as V8 writes places; undefined where it is not known. */
function placeOf(map: SourceMap, site: NodeJS.CallSite): string | undefined {
  const [line, column] = [site.getLineNumber(), site.getColumnNumber()];
  if (line === null || column === null) return undefined;
  const origin = map.findOrigin(line, column);
  if (!('fileName' in origin)) return undefined;
  return `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`;
}

/** As V8 begins a trace, whatever was thrown. */
function headOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

/**
 * Has stack traces name the sources that a bundle was made of. The map is read with the first trace that
 * somebody looks at: Node's own support reads it at every start, which takes 40 ms (2026-11-22).
 */
export function nameSources(bundle: string): void {
  const map = once(() => new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8'))));
  const frameOf = (site: NodeJS.CallSite): string => {
    // oxlint-disable-next-line typescript/no-base-to-string -- V8 writes the frame
    const written = String(site);
    if (site.getFileName() !== bundle) return written;
    try {
      const at = `${bundle}:${site.getLineNumber()}:${site.getColumnNumber()}`;
      return written.replace(at, () => placeOf(map(), site) ?? at);
    } catch {
      // No map is no reason to lose the trace.
      return written;
    }
  };
  Error.prepareStackTrace = (error, sites) =>
    [headOf(error), ...sites.map((site) => `    at ${frameOf(site)}`)].join('\n');
}
