import { type Agent, request as send } from 'node:http';

export interface StreamToRead {
  url: string;
  headers: Record<string, string>;
  body: string;
  agent: Agent;
  /** Stands in every event with text, and in no other. */
  textMark: string;
  /** What the answer ends with; who did not say it did not say all. */
  lastWords: string;
}

/** Reads one stream to its end; resolves to ms from the request to its first text. Throws Error unless it said all. */
export function firstTextMs(stream: StreamToRead): Promise<number> {
  const { url, headers, body, agent, textMark, lastWords } = stream;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const startedAt = performance.now();
  const request = send(url, { method: 'POST', headers, agent }, (response) => {
    let firstMs: number | undefined;
    let said = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (firstMs === undefined && text.includes(textMark)) firstMs = performance.now() - startedAt;
      said += text;
    });
    response.on('error', reject);
    response.on('end', () =>
      firstMs !== undefined && said.includes(lastWords)
        ? resolve(firstMs)
        : reject(new Error(`${url} did not say all, HTTP ${response.statusCode}`)),
    );
  });
  request.on('error', reject).end(body);
  return promise;
}
