import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { openServer } from '#infra/local/processes/open-server.ts';
import { refuseForeign } from '#infra/local/processes/refuse-foreign.ts';
import { control } from './control.ts';
import { FaultQueue, type Fault } from './faults.ts';
import { answer, type Arrival, type Model, openEntry } from './generation.ts';
import { Journal } from './journal.ts';
import { isSendAddress, Messaging } from './messaging.ts';
import { type Vices, vicesSchema } from './misbehaviour.ts';
import { measure, PrefixCache } from './prefix-cache.ts';
import { RecordedAnswers, type RecordedAnswer } from './recorded-answers.ts';
import { invalidArgument, notFound } from './refusals.ts';
import { modelRequestSchema, readAddress } from './request.ts';
import { sendJson, type Timing } from './respond.ts';

interface FakeGeminiOptions {
  /** Default 0: any free port. */
  port?: number;
  timeToFirstTokenMs?: number;
  /** Default 0: as fast as possible. */
  tokensPerSecond?: number;
}

/** A local server that speaks Gemini's REST API and can be driven in process or over `/control/…`. */
export type FakeGemini = Awaited<ReturnType<typeof startFakeGemini>>;

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function parseBody(rawBody: string): Arrival['body'] | undefined {
  try {
    return modelRequestSchema.safeParse(JSON.parse(rawBody)).data;
  } catch {
    return undefined;
  }
}

async function serve(
  model: Model,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const rawBody = await readText(request);
  const { method = 'GET', url = '/' } = request;
  const { pathname } = new URL(url, 'http://fake');
  if (pathname.startsWith('/control/')) {
    const { status, body } = control(model, { method, path: pathname, body: rawBody });
    return sendJson(response, status, body);
  }
  if (isSendAddress(pathname)) {
    const authorization = header(request, 'authorization');
    const { status, headers, body } = model.messaging.send({ authorization, rawBody });
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return sendJson(response, status, body);
  }
  const address = method === 'POST' ? readAddress(pathname) : undefined;
  if (address === undefined)
    return sendJson(response, 404, { error: notFound(`there is no ${method} ${pathname}`) });
  const body = parseBody(rawBody);
  if (body === undefined)
    return sendJson(response, 400, { error: invalidArgument('Invalid JSON payload received.') });
  const role = header(request, 'x-recap-role');
  const promptId = header(request, 'x-recap-prompt-id');
  const headers = { role, promptId };
  await serveModel(model, { address, body, measure: measure(body), rawBody, headers }, response);
}

async function serveModel(model: Model, arrival: Arrival, response: ServerResponse): Promise<void> {
  const started = performance.now();
  const gone = new AbortController();
  const entry = openEntry(model, arrival);
  response.once('close', () => {
    if (!response.writableFinished && entry.fault !== 'cut') entry.aborted = true;
    entry.durationMs = Math.round(performance.now() - started);
    gone.abort();
  });
  await answer(model, arrival, { response, entry, signal: gone.signal });
}

/** Starts the fake Gemini on the loopback interface. */
export async function startFakeGemini(options: FakeGeminiOptions = {}) {
  const model: Model = {
    timing: {
      timeToFirstTokenMs: options.timeToFirstTokenMs ?? 0,
      tokensPerSecond: options.tokensPerSecond ?? 0,
    },
    vices: {},
    windows: new Map(),
    faults: new FaultQueue(),
    recorded: new RecordedAnswers(),
    journal: new Journal(),
    cache: new PrefixCache(),
    messaging: new Messaging(),
  };
  const server = createServer((request, response) => {
    // A defect of the fake Gemini must fail the request that met it, not hang it.
    serve(model, request, response).catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
  });
  refuseForeign(server);
  const { url, port, close } = await openServer(server, options.port);
  return {
    url,
    port,
    /** The newest 500 requests, oldest first. */
    journal: () => model.journal.entries(),
    /** Body of request `n`, while it is kept. */
    requestBody: (n: number): unknown => JSON.parse(model.journal.body(n) ?? 'null'),
    clearJournal: () => model.journal.clear(),
    queueFaults: (...faults: Fault[]) => model.faults.add(faults),
    clearFaults: () => model.faults.clear(),
    /** Replaces all vices. */
    setVices: (vices: Vices) => void (model.vices = vicesSchema.parse(vices)),
    registerAnswers: (...answers: RecordedAnswer[]) => model.recorded.register(answers),
    clearAnswers: () => model.recorded.clear(),
    setWindow: (name: string, tokens: number) => void model.windows.set(name, tokens),
    setTiming: (timing: Partial<Timing>) => void (model.timing = { ...model.timing, ...timing }),
    /** The fake of Firebase Cloud Messaging behind the same address. */
    messaging: model.messaging,
    /** Ends open requests and stops listening. */
    close,
  };
}
