import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/* How the judge tells a client what to do: README.md, "Drivers". */

interface Command {
  name: string;
  chat?: string;
  value: unknown;
}

const doneSchema = z.strictObject({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.looseObject({ reason: z.string() }).optional(),
});
export type Outcome = Pick<z.infer<typeof doneSchema>, 'result' | 'error'>;

type TokenSource = (isForced: boolean) => string | undefined;

const ANSWER_MS = 30_000;
const POLL_MS = 20_000;

/** The line to one driver. */
export interface Line {
  url: string;
  /** Undefined: no token can be had. */
  tokens: TokenSource;
  ask(command: Command): Promise<Outcome>;
  /** The driver is gone: what it was asked is not answered any more. */
  drop(): void;
  /** Ends the line. */
  hangUp(): void;
}

interface Asked {
  settle: (outcome: Outcome) => void;
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

/**
 * Opens a line at a port of its own: a browser has six connections to a port, and each poll holds one.
 */
export async function openLine(): Promise<Line> {
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

  function next(response: ServerResponse): void {
    waiting = response;
    const timer = setTimeout(() => {
      if (waiting !== response) return;
      waiting = undefined;
      send(response, 204);
    }, POLL_MS);
    response.on('close', () => clearTimeout(timer));
    give();
  }

  function giveToken(response: ServerResponse, isForced: boolean): void {
    const token = line.tokens(isForced);
    if (token === undefined) send(response, 503);
    else send(response, 200, { token });
  }

  async function takeOutcome(request: IncomingMessage): Promise<void> {
    const { id, ...outcome } = doneSchema.parse(await bodyOf(request));
    asked.get(id)?.settle(outcome);
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://control');
    if (request.method === 'OPTIONS') send(response, 204);
    else if (pathname === '/next') next(response);
    else if (pathname === '/token') giveToken(response, searchParams.get('force') === 'true');
    else
      takeOutcome(request).then(
        () => send(response, 204),
        (error: unknown) => send(response, 400, { error: String(error) }),
      );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const line: Line = {
    url: `http://127.0.0.1:${port}`,
    tokens: () => undefined,
    ask(command) {
      lastId += 1;
      const id = lastId;
      commands.push({ id, ...command });
      give();
      return new Promise((resolve, reject) => {
        const late = `the client did not answer ${command.name} within ${ANSWER_MS / 1000} s`;
        const timer = setTimeout(() => reject(new Error(late)), ANSWER_MS);
        const settle = (outcome: Outcome): void => {
          clearTimeout(timer);
          asked.delete(id);
          resolve(outcome);
        };
        asked.set(id, { settle });
      });
    },
    drop() {
      waiting = undefined;
      commands.length = 0;
      for (const { settle } of asked.values()) settle({});
    },
    hangUp() {
      server.close();
      server.closeAllConnections();
    },
  };
  return line;
}
