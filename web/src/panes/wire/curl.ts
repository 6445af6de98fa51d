import type { Exchange } from '#web/state/wire-log.ts';

/** For a POSIX shell: nothing within single quotes has a meaning but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The command that makes the same request again. The caller's token never gets into it: the shell puts in
 * `$RECAP_TOKEN`.
 */
export function toCurl(
  request: Pick<Exchange, 'method' | 'url' | 'accept' | 'headers' | 'body'>,
): string {
  const { method, url, accept, body } = request;
  const flags = accept.includes('event-stream') ? '-sN' : '-s';
  const headers = [
    ['Accept', accept],
    ...(body === undefined ? [] : [['Content-Type', 'application/json']]),
    ...Object.entries(request.headers),
  ].filter(([name = '']) => name.toLowerCase() !== 'authorization');
  return [
    `curl ${flags} -X ${method} ${quoted(url)}`,
    `-H "Authorization: Bearer $RECAP_TOKEN"`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ');
}
