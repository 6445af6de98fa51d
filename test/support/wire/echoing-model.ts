import { createServer, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { openServer } from '#infra/local/processes/open-server.ts';

export const modelFailures = ['refused', 'unknown', 'quota', 'overloaded', 'unreadable'] as const;
export type ModelFailure = (typeof modelFailures)[number];

const statuses = {
  refused: [400, 'INVALID_ARGUMENT'],
  unknown: [404, 'NOT_FOUND'],
  quota: [429, 'RESOURCE_EXHAUSTED'],
  overloaded: [503, 'UNAVAILABLE'],
} as const;

/** Fails and says all that was asked back, as Google's errors quote requests. */
function fail(response: ServerResponse, failure: ModelFailure, asked: string): void {
  if (failure === 'unreadable') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: {"candidates": ${asked}\n\ndata: [${asked}\n\n`);
    return;
  }
  const [code, status] = statuses[failure];
  const details = [{ fieldViolations: [{ description: asked }] }];
  response
    .writeHead(code, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { code, status, message: `Cannot serve ${asked}`, details } }));
}

export interface EchoingModel {
  url: string;
  /** Every call, or those of one role, fails so from now on; undefined: they are answered. */
  failWith(failure: ModelFailure | undefined, role?: ModelRequest['role']): void;
  close(): Promise<void>;
}

/** The local model server behind one that can fail with errors that quote the whole request. */
export async function startEchoingModel(): Promise<EchoingModel> {
  const fakeGemini = await startFakeGemini();
  let failing: { failure: ModelFailure | undefined; role?: ModelRequest['role'] | undefined } = {
    failure: undefined,
  };
  const server = createServer((request, response) => {
    void (async () => {
      const asked = await readText(request);
      const { failure, role = request.headers['x-recap-role'] } = failing;
      if (failure && role === request.headers['x-recap-role'])
        return fail(response, failure, asked);
      const answer = await fetch(`${fakeGemini.url}${request.url ?? ''}`, {
        method: request.method ?? 'POST',
        headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
          typeof value === 'string' && (name.startsWith('x-') || name === 'content-type')
            ? [[name, value]]
            : [],
        ),
        ...(asked !== '' && { body: asked }),
      });
      const type = answer.headers.get('content-type') ?? 'application/json';
      response.writeHead(answer.status, { 'content-type': type }).end(await answer.text());
    })().catch(() => response.destroy());
  });
  const { url, close } = await openServer(server);
  return {
    url,
    failWith: (failure, role) => {
      failing = { failure, role };
    },
    close: async () => {
      await Promise.all([close(), fakeGemini.close()]);
    },
  };
}
