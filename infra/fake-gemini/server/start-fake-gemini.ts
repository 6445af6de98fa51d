import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { openServer } from '#infra/local/processes/open-server.ts';
import { refuseForeign } from '#infra/local/processes/refuse-foreign.ts';
import { control } from './control.ts';
import { FaultQueue, type QueuedFault } from './faults.ts';
import { answer, type Arrival, type Model, openEntry } from './generation.ts';
import { invalidArgument, notFound } from './refusals.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { createMessaging, isSendAddress, type Messaging } from './messaging.ts';
import { measure, PrefixCache } from './prefix-cache.ts';
import type { Page } from '../answers/ground.ts';
import { RecordedAnswers, type RecordedAnswer } from './recorded-answers.ts';
import { modelRequestSchema, readAddress } from './request.ts';
import { sendJson, type Timing } from './respond.ts';
import { type Vices, vicesSchema } from './misbehaviour.ts';

interface FakeGeminiOptions {
  /** Default 0: any free port. */
  port?: number;
  timeToFirstTokenMs?: number;
  /** Default 0: as fast as possible. */
  tokensPerSecond?: number;
  /** Default 1,048,576. */
  defaultWindowTokens?: number;
  /** Windows by exact model name. */
  windows?: Readonly<Record<string, number>>;
  vices?: Vices;
  /** Bodies kept for `/control/requests/{n}`. Default 50. */
  keepRequests?: number;
}

/** A local server that speaks Gemini's REST API and can be driven in process or over `/control/…`. */
export interface FakeGemini {
  url: string;
  port: number;
  /** The newest 2,000 requests, oldest first. */
  journal(): JournalEntry[];
  /** Body of request `n` as JSON, while it is kept. */
  requestBody(n: number): unknown;
  clearJournal(): void;
  queueFaults(...faults: QueuedFault[]): void;
  clearFaults(): void;
  /** Replaces all vices. */
  setVices(vices: Vices): void;
  registerAnswers(...answers: RecordedAnswer[]): void;
  clearAnswers(): void;
  setWindow(model: string, tokens: number): void;
  /** What Google's tools find from now on; none: pages are made up. */
  setWeb(...pages: Page[]): void;
  /** The fake of Firebase Cloud Messaging behind the same address. */
  messaging: Messaging;
  setTiming(timing: Partial<Timing>): void;
  /** Ends open requests and stops listening. */
  close(): Promise<void>;
}

const defaultWindowTokens = 1_048_576;
const defaultKeepRequests = 50;

function createModel(options: FakeGeminiOptions): Model {
  return {
    timing: {
      timeToFirstTokenMs: options.timeToFirstTokenMs ?? 0,
      tokensPerSecond: options.tokensPerSecond ?? 0,
    },
    vices: options.vices ?? {},
    defaultWindowTokens: options.defaultWindowTokens ?? defaultWindowTokens,
    windows: new Map(Object.entries(options.windows ?? {})),
    faults: new FaultQueue(),
    recorded: new RecordedAnswers(),
    journal: new Journal(options.keepRequests ?? defaultKeepRequests),
    cache: new PrefixCache(),
    web: [],
    messaging: createMessaging(),
  };
}

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

/** Reads the model request, or answers why it is none. */
function readArrival(
  request: IncomingMessage,
  response: ServerResponse,
  rawBody: string,
): Arrival | undefined {
  const { pathname } = new URL(request.url ?? '/', 'http://stand-in');
  const address = request.method === 'POST' ? readAddress(pathname) : undefined;
  if (address === undefined) {
    sendJson(response, 404, { error: notFound(`there is no ${request.method} ${pathname}`) });
    return undefined;
  }
  const body = parseBody(rawBody);
  if (body === undefined) {
    sendJson(response, 400, { error: invalidArgument('Invalid JSON payload received.') });
    return undefined;
  }
  const role = header(request, 'x-recap-role');
  const promptId = header(request, 'x-recap-prompt-id');
  return { address, body, measure: measure(body), rawBody, headers: { role, promptId } };
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

async function serve(
  model: Model,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const rawBody = await readText(request);
  const { pathname } = new URL(request.url ?? '/', 'http://stand-in');
  if (pathname.startsWith('/control/')) {
    const call = { method: request.method ?? 'GET', path: pathname, body: rawBody };
    const { status, body } = control(model, call);
    sendJson(response, status, body);
    return;
  }
  if (isSendAddress(pathname)) {
    const sent = { authorization: header(request, 'authorization'), rawBody };
    const { status, headers, body } = model.messaging.send(sent);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    sendJson(response, status, body);
    return;
  }
  const arrival = readArrival(request, response, rawBody);
  if (arrival !== undefined) await serveModel(model, arrival, response);
}

/** Starts the fake Gemini on the loopback interface. */
export async function startFakeGemini(options: FakeGeminiOptions = {}): Promise<FakeGemini> {
  const model = createModel(options);
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
    journal: () => model.journal.entries(),
    requestBody: (n) => JSON.parse(model.journal.body(n) ?? 'null'),
    clearJournal: () => model.journal.clear(),
    queueFaults: (...faults) => model.faults.add(faults),
    clearFaults: () => model.faults.clear(),
    setVices: (vices) => {
      model.vices = vicesSchema.parse(vices);
    },
    registerAnswers: (...answers) => model.recorded.register(answers),
    clearAnswers: () => model.recorded.clear(),
    setWindow: (name, tokens) => void model.windows.set(name, tokens),
    setWeb: (...pages) => {
      model.web = pages;
    },
    messaging: model.messaging,
    setTiming: (timing) => {
      model.timing = { ...model.timing, ...timing };
    },
    close,
  };
}
