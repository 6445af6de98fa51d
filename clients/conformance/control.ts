import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { CommandName } from './scenario.ts';

/* How the judge tells a client what to do: README.md, "Drivers". */

export interface Command {
  name: CommandName;
  chat?: string;
  value: unknown;
}

const doneSchema = z.strictObject({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.looseObject({ reason: z.string() }).optional(),
});
export type Outcome = Pick<z.infer<typeof doneSchema>, 'result' | 'error'>;

export type TokenSource = (isForced: boolean) => string | undefined;

const ANSWER_MS = 8_000;
const POLL_MS = 20_000;

/** The line to one driver. */
export interface Line {
  url: string;
  /** Undefined: no token can be had. */
  tokens: TokenSource;
  ask(command: Command): Promise<Outcome>;
  /** The driver is gone: what it was asked is not answered any more. */
  drop(): void;
}

interface Asked {
  settle: (outcome: Outcome) => void;
  fail: (error: Error) => void;
}

const send = (response: ServerResponse, status: number, body?: unknown): void => {
  response.writeHead(status, {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
};

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString());
}

function createLine(url: string): Line & {
  next: (response: ServerResponse) => void;
  done: (body: unknown) => void;
} {
  const asked = new Map<number, Asked>();
  const commands: object[] = [];
  let waiting: ServerResponse | undefined;
  let lastId = 0;

  function give(): void {
    if (!waiting || waiting.destroyed) return;
    const command = commands.shift();
    if (!command) return;
    send(waiting, 200, command);
    waiting = undefined;
  }

  return {
    url,
    tokens: () => undefined,
    ask(command) {
      lastId += 1;
      const id = lastId;
      commands.push({ id, ...command });
      give();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () =>
            reject(
              new Error(`the client did not answer ${command.name} within ${ANSWER_MS / 1000} s`),
            ),
          ANSWER_MS,
        );
        const answered =
          <Value>(settle: (value: Value) => void) =>
          (value: Value) => {
            clearTimeout(timer);
            asked.delete(id);
            settle(value);
          };
        asked.set(id, { settle: answered(resolve), fail: answered(reject) });
      });
    },
    drop() {
      waiting = undefined;
      commands.length = 0;
      for (const { settle } of asked.values()) settle({});
    },
    next(response) {
      waiting = response;
      const timer = setTimeout(() => {
        if (waiting !== response) return;
        waiting = undefined;
        send(response, 204);
      }, POLL_MS);
      response.on('close', () => clearTimeout(timer));
      give();
    },
    done(body) {
      const { id, ...outcome } = doneSchema.parse(body);
      asked.get(id)?.settle(outcome);
    },
  };
}

/** The server that all drivers poll, each under an address of its own. */
export async function startControl(): Promise<{ openLine: () => Line; stop: () => void }> {
  const lines: ReturnType<typeof createLine>[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'OPTIONS') return send(response, 204);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://control');
    const [, index, action] = pathname.split('/');
    const line = lines[Number(index)];
    if (!line) return send(response, 404);
    if (action === 'next') return line.next(response);
    if (action === 'token') {
      const token = line.tokens(searchParams.get('force') === 'true');
      return token === undefined ? send(response, 503) : send(response, 200, { token });
    }
    bodyOf(request).then(
      (body) => {
        line.done(body);
        send(response, 204);
      },
      (error: unknown) => send(response, 400, { error: String(error) }),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    openLine() {
      const line = createLine(`http://127.0.0.1:${port}/${lines.length}`);
      lines.push(line);
      return line;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
