import { z } from 'zod';
import { SmokeFailure } from './run-steps.ts';
import { remedyFor } from './remedies.ts';

const errorSchema = z.object({
  error: z.object({
    message: z.string(),
    details: z.array(z.looseObject({ reason: z.string().optional() })).default([]),
  }),
});

interface SmokeRequest {
  method?: string;
  path: string;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** Statuses that are no failure; default 200 to 299. */
  expect?: readonly number[];
}

export interface SmokeClient {
  url: string;
  /** Throws SmokeFailure unless the status is expected. The body is not read. */
  open(request: SmokeRequest): Promise<Response>;
  /** The same, and the JSON of the answer read by a schema. */
  json<T>(schema: z.ZodType<T>, request: SmokeRequest): Promise<T>;
}

/** Bound of everything but streams, which have the server's. */
const TIMEOUT_MS = 330_000;
const SHOWN_CHARACTERS = 120;

/** The beginning of a text, without the word that a cut would halve: half a token would not be known as one. */
function shown(text: string): string {
  const line = text.replaceAll(/<[^>]*>|\s+/g, ' ').trim();
  if (line.length <= SHOWN_CHARACTERS) return line;
  return `${line.slice(0, Math.max(0, line.lastIndexOf(' ', SHOWN_CHARACTERS)))} …`.trim();
}

const CUT =
  'The connection was cut while the answer came: the instance ended or a proxy gave up; look at the log of chat.';

/** Why no answer came, in words of networks. */
const remedyByCode: Readonly<Record<string, string>> = {
  ENOTFOUND: 'There is no such host: check --url for typos.',
  ECONNREFUSED: 'Nobody listens there: is the service up (locally: npm start), and the port right?',
  UND_ERR_SOCKET: CUT,
  ECONNRESET: CUT,
};
const NO_ANSWER = 'No answer came: check the network from here, and the certificate of the host.';

const codeOf = (error: unknown): string | undefined => {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
};

/** A failed connection as a failure of the step; everything else as it is. */
export function networkFailure(tried: string, error: unknown): unknown {
  if (error instanceof SmokeFailure || !(error instanceof Error)) return error;
  const code = codeOf(error);
  return new SmokeFailure({
    tried,
    came: `no answer (${code ?? error.name}: ${error.message})`,
    remedy: remedyByCode[code ?? ''] ?? NO_ANSWER,
  });
}

/** Status, reason, message and request id of an answer that was not expected. */
async function toRefusal(tried: string, response: Response): Promise<SmokeFailure> {
  const text = await response.text();
  let parsed: z.infer<typeof errorSchema> | undefined;
  try {
    parsed = errorSchema.safeParse(JSON.parse(text)).data;
  } catch {
    parsed = undefined;
  }
  const reason = parsed?.error.details.find((detail) => detail.reason !== undefined)?.reason;
  const requestId = response.headers.get('x-request-id');
  return new SmokeFailure({
    tried,
    came: [
      `HTTP ${response.status}`,
      reason ?? 'no reason of Recap’s',
      JSON.stringify(shown(parsed?.error.message ?? text)),
      requestId === null ? 'without a request id' : `request ${requestId}`,
    ].join(', '),
    remedy: remedyFor({ status: response.status, reason }),
  });
}

/** Calls of the public API as one user. */
export function createSmokeClient(options: {
  url: string;
  headers: Readonly<Record<string, string>>;
}): SmokeClient {
  const url = options.url.replace(/\/+$/, '');
  const methodOf = ({ method, body }: SmokeRequest) => method ?? (body ? 'POST' : 'GET');
  const open = async (request: SmokeRequest) => {
    const { path, body, headers, expect } = request;
    const method = methodOf(request);
    const tried = `${method} ${url}${path}`;
    const type = body && { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...options.headers, ...type, ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw networkFailure(tried, error);
    });
    const isExpected = expect === undefined ? response.ok : expect.includes(response.status);
    if (!isExpected) throw await toRefusal(tried, response);
    return response;
  };
  return {
    url,
    open,
    async json(schema, request) {
      const response = await open(request);
      const text = await response.text();
      try {
        return schema.parse(JSON.parse(text));
      } catch {
        throw new SmokeFailure({
          tried: `${methodOf(request)} ${url}${request.path}`,
          came: `HTTP ${response.status}, but ${JSON.stringify(shown(text))} is not what this version of Recap answers`,
          remedy:
            'Something else than Recap may serve this address, or another version of it: compare with `npm run package` and `terraform apply`.',
        });
      }
    },
  };
}
