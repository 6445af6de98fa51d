import { request, type RequestOptions } from 'node:http';

interface Asked extends RequestOptions {
  body?: string;
}

/**
 * The first answer that has `wanted` in its text, or any where that is '', by a small client: what it costs is
 * measured, too. Resolves to its status, or to undefined while nobody listens. Throws Error for an answer without it.
 */
export function firstAnswer(
  url: string,
  { body, ...options }: Asked,
  wanted = '',
): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(url, options, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (wanted !== '' && text.includes(wanted)) resolve(response.statusCode);
    });
    response.once('error', reject).once('end', () => {
      if (text.includes(wanted)) resolve(response.statusCode);
      else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
    });
  })
    .once('error', () => resolve(undefined))
    .end(body);
  return promise;
}
