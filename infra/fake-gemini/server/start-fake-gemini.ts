import {
  type Measure,
  PrefixCache,
  measure as measureRequest,
} from '#infra/fake-gemini/answers/token-rule.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { refuseForeign } from '#infra/local/processes/refuse-foreign.ts';
import { FaultQueue, type Vices, vicesSchema, type Fault } from './faults.ts';
import { Journal } from './journal.ts';
import { Messaging, isSendAddress } from './messaging.ts';
import { RecordedAnswers, type RecordedAnswer } from './recorded-answers.ts';
import {
  refuseCount,
  refuseGeneration,
  refuseModel,
  type GoogleError,
  invalidArgument,
  notFound,
} from './refusals.ts';
import { composeReply } from './reply.ts';
import {
  type Address,
  type ModelRequestBody,
  modelRequestSchema,
  readAddress,
  readJson,
} from './request.ts';
import {
  type Exchange,
  sendAnswer,
  sendError,
  sendFailure,
  sendJson,
  type Timing,
  wait,
} from './respond.ts';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';

const usualWindowTokens = 1_048_576;

/** What one fake Gemini is made of. */
interface Model {
  timing: Timing;
  vices: Vices;
  /** Windows by exact model name; any other model has 1,048,576 tokens. */
  windows: Map<string, number>;
  faults: FaultQueue;
  recorded: RecordedAnswers;
  journal: Journal;
  cache: PrefixCache;
  /** Firebase Cloud Messaging, behind the same address. */
  messaging: Messaging;
}

/** A model request as it arrived. */
interface Arrival {
  address: Address;
  body: ModelRequestBody;
  measure: Measure;
}

function refuse(model: Model, { address, body, measure }: Arrival): GoogleError | undefined {
  const unknown = refuseModel(address);
  if (unknown !== undefined) return unknown;
  if (address.operation === 'countTokens') return refuseCount(address, body);
  const windowTokens = model.windows.get(address.model) ?? usualWindowTokens;
  const { promptTokens } = measure;
  return refuseGeneration({ model: address.model, body, promptTokens, windowTokens });
}

/** Answers one model request; resolves when the answer is sent or its client has gone. */
async function answer(model: Model, arrival: Arrival, exchange: Exchange): Promise<void> {
  const { address, body, measure } = arrival;
  const { entry, fault, response, signal } = exchange;
  if (fault?.kind === 'delay') await wait(fault.delayMs ?? 0, signal);
  if (await sendFailure(exchange)) return;
  const refusal = refuse(model, arrival);
  if (refusal !== undefined) {
    entry.refusal = refusal.message;
    sendError(exchange, refusal);
    return;
  }
  if (address.operation === 'countTokens') {
    entry.httpStatus = 200;
    sendJson(response, 200, { totalTokens: measure.promptTokens });
    return;
  }
  entry.cachedTokens = model.cache.use(address.model, measure.prefixes);
  const { vices, recorded } = model;
  const promptHash = measure.prefixes.at(-1)?.hash ?? '';
  if (entry.role === 'utility_compressor') await wait(vices.slowMs ?? 0, signal);
  await sendAnswer(exchange, composeReply({ body, promptHash, vices, recorded, fault, entry }));
}

interface ControlCall {
  method: string;
  path: string;
  body: string;
}

const timingSchema = z.strictObject({
  timeToFirstTokenMs: z.number().min(0).optional(),
  tokensPerSecond: z.number().min(0).optional(),
});

/** What each order does with its body. */
const orders: Readonly<Record<string, (model: Model, body: unknown) => object | void>> = {
  'POST /control/vices': (model, body) => {
    model.vices = vicesSchema.parse(body);
  },
  'POST /control/timing': (model, body) => {
    model.timing = { ...model.timing, ...timingSchema.parse(body) };
  },
  'POST /control/faults': (model, body) => {
    model.faults.add(z.strictObject({ faults: z.array(z.unknown()) }).parse(body).faults);
  },
  'GET /control/faults': (model) => ({ waiting: model.faults.size }),
  'DELETE /control/faults': (model) => model.faults.clear(),
  'POST /control/answers': (model, body) => {
    model.recorded.register(z.strictObject({ answers: z.array(z.unknown()) }).parse(body).answers);
  },
  'DELETE /control/answers': (model) => model.recorded.clear(),
  'GET /control/journal': (model) => ({ entries: model.journal.entries() }),
  'DELETE /control/journal': (model) => model.journal.clear(),
  'GET /control/notifications': (model) => ({ notifications: model.messaging.sent() }),
  'DELETE /control/notifications': (model) => model.messaging.clear(),
};

/** Serves `/control/…`: 200, 400 with what is wrong with the body, or 404. */
function control(
  model: Model,
  { method, path, body }: ControlCall,
): { status: number; body: object } {
  const obey = orders[`${method} ${path}`];
  if (obey === undefined)
    return { status: 404, body: { problem: `there is no ${method} ${path}` } };
  try {
    return { status: 200, body: obey(model, JSON.parse(body || '{}')) ?? {} };
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : error.message;
    return { status: 400, body: { problem } };
  }
}

/** A local server that speaks Gemini's REST API and can be driven in process or over `/control/…`. */
export type FakeGemini = Awaited<ReturnType<typeof startFakeGemini>>;

async function serve(
  model: Model,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const rawBody = await readText(request);
  const { method = 'GET', url = '/', headers } = request;
  const { pathname } = new URL(url, 'http://fake');
  if (pathname.startsWith('/control/')) {
    const { status, body } = control(model, { method, path: pathname, body: rawBody });
    return sendJson(response, status, body);
  }
  if (isSendAddress(pathname)) {
    const { status, retryAfter, body } = model.messaging.send(headers.authorization, rawBody);
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    return sendJson(response, status, body);
  }
  const address = method === 'POST' ? readAddress(pathname) : undefined;
  if (address === undefined)
    return sendJson(response, 404, { error: notFound(`there is no ${method} ${pathname}`) });
  const body = readJson(modelRequestSchema, rawBody);
  if (body === undefined)
    return sendJson(response, 400, { error: invalidArgument('Invalid JSON payload received.') });
  const started = performance.now();
  const measure = measureRequest(body);
  const { api, operation } = address;
  const entry = model.journal.open(
    {
      api,
      operation,
      model: address.model,
      role: headers['x-recap-role']?.toString() ?? (operation === 'countTokens' ? '' : 'chat'),
      promptId: headers['x-recap-prompt-id']?.toString() ?? '',
      promptTokens: measure.promptTokens,
      cachedTokens: 0,
    },
    rawBody,
  );
  const fault = model.faults.take(entry);
  entry.fault = fault?.kind;
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished && entry.fault !== 'cut') entry.aborted = true;
    entry.durationMs = Math.round(performance.now() - started);
    gone.abort();
  });
  const exchange = { response, entry, fault, timing: () => model.timing, signal: gone.signal };
  await answer(model, { address, body, measure }, exchange);
}

/** Starts the fake Gemini on a port of the loopback interface; 0: any free one. */
export async function startFakeGemini(wantedPort = 0) {
  const model: Model = {
    timing: { timeToFirstTokenMs: 0, tokensPerSecond: 0 },
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
  const { url, port, close } = await openServer(server, wantedPort);
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
