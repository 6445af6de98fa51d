import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { openServer } from '#infra/local/processes/open-server.ts';
import { encodeProviderSchema } from './encode-schema.ts';
import {
  providerAddress,
  providerNames,
  readProviderSchema,
  type ProviderName,
} from './provider-schema.ts';

/*
 * Providers that know their schema and nothing else. Terraform checks configurations against the
 * schema itself, and its tests put mocks in the place of everything that a provider does; so what
 * reaches these servers is the question for the schema, and validations, of which they have none of their own.
 * Terraform's plugin protocol is gRPC over HTTP/2 without encryption.
 */

const SERVICE = '/tfplugin6.Provider/';

/** Methods whose empty answer means: nothing to object to. */
const agreeing = new Set([
  'ValidateProviderConfig',
  'ValidateResourceConfig',
  'ValidateDataResourceConfig',
  'ConfigureProvider',
  'GetFunctions',
  'StopProvider',
]);

/** gRPC's status codes. */
const OK = '0';
const UNIMPLEMENTED = '12';

/** A gRPC message: not compressed, with its length before it. */
function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function answer(stream: ServerHttp2Stream, message: Buffer): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': OK }));
  stream.end(framed(message));
}

function refuse(stream: ServerHttp2Stream): void {
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNIMPLEMENTED },
    { endStream: true },
  );
}

interface SchemaProvider {
  /** What Terraform must know to talk to this provider in place of the real one. */
  reattach: Record<string, unknown>;
  stop(): Promise<void>;
}

/** Starts a provider on a free port of this machine. */
async function startProvider(name: ProviderName): Promise<SchemaProvider> {
  const schema = encodeProviderSchema(readProviderSchema(name));
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    // Terraform goes away in the middle of a call when it is stopped.
    stream.on('error', () => undefined).resume();
    const path = headers[':path'] ?? '';
    const method = path.startsWith(SERVICE) ? path.slice(SERVICE.length) : '';
    if (method === 'GetProviderSchema') answer(stream, schema);
    else if (agreeing.has(method)) answer(stream, Buffer.alloc(0));
    else refuse(stream);
  });
  const { host, close } = await openServer(server);
  return {
    reattach: {
      [providerAddress(name)]: {
        Protocol: 'grpc',
        ProtocolVersion: 6,
        Pid: process.pid,
        Test: true,
        Addr: { Network: 'tcp', String: host },
      },
    },
    stop: () => {
      for (const session of sessions) session.destroy();
      return close();
    },
  };
}

interface SchemaProviders {
  /** What Terraform must find in its environment to talk to these providers in place of the real ones. */
  environment: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts every provider that terraform/ requires. */
export async function startSchemaProviders(): Promise<SchemaProviders> {
  const providers = await Promise.all(providerNames.map(startProvider));
  const reattach = Object.assign({}, ...providers.map((one) => one.reattach));
  return {
    environment: { TF_REATTACH_PROVIDERS: JSON.stringify(reattach) },
    stop: async () => {
      await Promise.all(providers.map((one) => one.stop()));
    },
  };
}
