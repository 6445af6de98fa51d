import type { Exchange } from '#web/state/wire-log.ts';

/** For a POSIX shell: nothing within single quotes has a meaning but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The command that makes the same request again. The caller's token never gets into it: the shell puts in
 * `$RECAP_TOKEN`.
 */
export function toCurl(request: Pick<Exchange, 'method' | 'url' | 'accept' | 'body'>): string {
  const { method, url, accept, body } = request;
  const flags = accept.includes('event-stream') ? '-sN' : '-s';
  return [
    `curl ${flags} -X ${method} ${quoted(url)}`,
    `-H "Authorization: Bearer $RECAP_TOKEN"`,
    `-H ${quoted(`Accept: ${accept}`)}`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`]),
  ].join(' \\\n  ');
}
