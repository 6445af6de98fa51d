import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { openForTest } from './open-for-test.ts';

export interface LongBody {
  status?: number;
  headers: OutgoingHttpHeaders;
  begin: string;
  /** Said again and again, 64 MiB in all. */
  piece?: string;
  end: string;
}

const SENT_BYTES = 64 * 1024 * 1024;

/** What the operating system holds of a connection between two processes, both ends together. */
export const ON_THE_WAY_BYTES = 12 * 1024 * 1024;

/** A server that says one long body to each request, and how much of it a client took at most. */
export async function startLongBody(body: LongBody) {
  const { status = 200, headers, begin, piece = 'x'.repeat(64 * 1024), end } = body;
  const said = Buffer.from(piece);
  let most = 0;
  const say = async (response: ServerResponse) => {
    response.writeHead(status, headers);
    response.write(begin);
    const gone = once(response, 'close');
    for (let sent = 0; sent < SENT_BYTES && !response.destroyed; sent += said.byteLength) {
      most = Math.max(most, sent);
      if (!response.write(said)) await Promise.race([once(response, 'drain'), gone]);
    }
    response.end(end);
  };
  const { url } = await openForTest(createServer((_, response) => void say(response)));
  return { url, takenBytes: () => most };
}
