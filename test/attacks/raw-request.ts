import { connect, type Socket } from 'node:net';

interface RawAnswer {
  /** Status of the first answer; 0: the connection was closed without one. */
  status: number;
  /** Everything that came back, headers and all. */
  text: string;
  /** What the client had got rid of when the connection was closed. */
  sentBytes: number;
}

/** A connection to the server of `url`, its errors swallowed: a server that hangs up is no surprise here. */
export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return socket;
}

/** Request line and headers as text, each line ended, with the empty line behind them. */
export const requestHead = (line: string, headers: readonly (readonly [string, string])[]) =>
  `${[`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;

/** Ends with the connection, whoever breaks it off. */
const closeOf = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });

const readAll = (socket: Socket) => {
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  return () => text;
};

/** Whether an answer has come with all of the length that it names. */
function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)/im.exec(text)?.[1];
  return headEnd >= 0 && text.length >= headEnd + 4 + Number(length ?? 0);
}

const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);

/**
 * Sends `head`, then the pieces of a body as fast as the server takes them, and goes on sending whatever it
 * answers, until the connection is closed or there is nothing more to send; then waits for the close.
 */
export async function sendRaw(
  url: string,
  { head, body = [] }: { head: string; body?: Iterable<string | Uint8Array> },
): Promise<RawAnswer> {
  const socket = openSocket(url);
  const text = readAll(socket);
  const closed = closeOf(socket);
  socket.write(head);
  for (const piece of body) {
    if (socket.destroyed || socket.writableEnded) break;
    if (socket.write(piece)) continue;
    const drained = new Promise<void>((resolve) => {
      socket.once('drain', () => resolve());
    });
    await Promise.race([drained, closed]);
  }
  // Half a close would be a whole one to the server, so it waits for the answer.
  const endWhenAnswered = () => {
    if (isWhole(text())) socket.end();
  };
  socket.on('data', endWhenAnswered);
  endWhenAnswered();
  await closed;
  return { status: statusOf(text()), text: text(), sentBytes: socket.bytesWritten };
}

/** Sends `head` and a beginning, and then nothing: the answer that comes all the same, and the close. */
export async function sendHalf(url: string, begun: string): Promise<RawAnswer> {
  const socket = openSocket(url);
  const text = readAll(socket);
  socket.write(begun);
  await closeOf(socket);
  return { status: statusOf(text()), text: text(), sentBytes: socket.bytesWritten };
}

/** The JSON body of a raw answer with a length or in chunks. */
export function errorOfRaw({ text }: RawAnswer): { reason: string; code: number } {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  const { error } = JSON.parse(json);
  return { reason: error.details[0].reason, code: error.code };
}
