import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { encodeProviderSchema } from './encode-schema.ts';
import { readProviderSchema, type ProviderName } from './provider-schema.ts';

/*
 * A provider that knows its schema and nothing else. Terraform checks configurations against the schema
 * itself, and its tests put mocks in the place of everything that a provider does; so what reaches this server
 * is the question for the schema, and validations, of which it has none of its own. Terraform's plugin
 * protocol is gRPC over HTTP/2 without encryption.
 */

const SERVICE = '/tfplugin6.Provider/';

/** Methods whose empty answer means: nothing to object to. */
const agreeing = [
  'ValidateProviderConfig',
  'ValidateResourceConfig',
  'ValidateDataResourceConfig',
  'ConfigureProvider',
  'GetFunctions',
  'StopProvider',
];

/** gRPC's status codes. */
const OK = '0';
const UNIMPLEMENTED = '12';

/** Answers with a gRPC message, which is not compressed and has its length before it; without one refuses. */
function answer(stream: ServerHttp2Stream, message: Buffer | undefined): void {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message?.length ?? 0, 1);
  const status = message === undefined ? UNIMPLEMENTED : OK;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
  stream.end(message === undefined ? undefined : Buffer.concat([prefix, message]));
}

/** Starts a provider on a free port of this machine: what Terraform must know to talk to it in place of the real one. */
export async function startSchemaProvider(
  name: ProviderName,
): Promise<{ reattach: Record<string, unknown>; stop(): void }> {
  const answers = new Map([
    ['GetProviderSchema', encodeProviderSchema(readProviderSchema(name))],
    ...agreeing.map((method) => [method, Buffer.alloc(0)] as const),
  ]);
  const server = createServer();
  server.on('stream', (stream, { ':path': path = '' }) => {
    // Terraform goes away in the middle of a call when it is stopped.
    stream.on('error', () => undefined).resume();
    answer(stream, path.startsWith(SERVICE) ? answers.get(path.slice(SERVICE.length)) : undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the schema provider has no port');
  return {
    reattach: {
      Protocol: 'grpc',
      ProtocolVersion: 6,
      Pid: process.pid,
      Test: true,
      Addr: { Network: 'tcp', String: `127.0.0.1:${address.port}` },
    },
    // Its connections end with the Terraform that made them.
    stop: () => server.close(),
  };
}
