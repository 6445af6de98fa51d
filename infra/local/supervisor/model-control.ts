import { z } from 'zod';

/** What the fault panel can do to the fake Gemini: a small part of its controls. */
export const modelFaultsBody = z.strictObject({
  kind: z.enum(['quota', 'unavailable', 'safety']),
  /** How many calls it befalls. */
  times: z.int().min(1).max(10),
  /** Whose calls. */
  of: z.enum(['chat', 'summariser']),
});
type ModelFaults = z.infer<typeof modelFaultsBody>;

export const vicesBody = z.strictObject({
  /** Whether the summariser alters a number. */
  inventive: z.boolean().optional(),
  /** How long it thinks before it writes. */
  slowMs: z.number().min(0).max(30_000).optional(),
});
type ModelVices = z.infer<typeof vicesBody>;

export const timingBody = z.strictObject({
  timeToFirstTokenMs: z.number().min(0).max(10_000).optional(),
  /** 0: as fast as possible. */
  tokensPerSecond: z.number().min(0).max(1_000).optional(),
});
type ModelTiming = z.infer<typeof timingBody>;

/** The fake Gemini as it starts in `npm start`. */
const usualTiming = { timeToFirstTokenMs: 0, tokensPerSecond: 0 } satisfies ModelTiming;

/** One call of the fake Gemini, without any text of a conversation. */
const modelCallSchema = z.object({
  n: z.number(),
  at: z.string(),
  role: z.string(),
  /** The turn (`t_3`) or the compaction that asked. */
  promptId: z.string(),
  fault: z.string().optional(),
  httpStatus: z.number().optional(),
  finishReason: z.string().optional(),
  durationMs: z.number().optional(),
});
type ModelCall = z.infer<typeof modelCallSchema>;

const journalSchema = z.object({ entries: z.array(modelCallSchema) });
const waitingSchema = z.object({ waiting: z.number() });

const ROLES = { chat: 'chat', summariser: 'utility_compressor' } as const;
const TIMEOUT_MS = 5_000;
/** Of the calls that are told, the newest. */
const MAX_CALLS = 200;

/** Told with a 429, so that whoever asks again is let in soon. */
const RETRY_DELAY_MS = 1_000;

export interface ModelControl {
  addFaults(faults: ModelFaults): Promise<void>;
  setVices(vices: ModelVices): Promise<void>;
  setTiming(timing: ModelTiming): Promise<void>;
  /** The newest 200 calls after number `n`. */
  callsAfter(n: number): Promise<ModelCall[]>;
  state(): Promise<{ waitingFaults: number; vices: ModelVices; timing: ModelTiming }>;
  /** No faults, no vices, the usual pace. */
  reset(): Promise<void>;
}

/** The controls of the fake Gemini at `url`. Its failures are thrown as Error. */
export function createModelControl(url: string): ModelControl {
  let vices: ModelVices = {};
  let timing: ModelTiming = usualTiming;

  async function call(path: string, request: { method: string; body?: object }): Promise<unknown> {
    const response = await fetch(`${url}/control/${path}`, {
      method: request.method,
      ...(request.body && { body: JSON.stringify(request.body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the stand-in refused ${path}: ${text}`);
    return JSON.parse(text);
  }

  async function setVices(wanted: ModelVices): Promise<void> {
    await call('vices', { method: 'POST', body: wanted });
    vices = wanted;
  }
  async function setTiming(wanted: ModelTiming): Promise<void> {
    await call('timing', { method: 'POST', body: wanted });
    timing = { ...timing, ...wanted };
  }

  return {
    setVices,
    setTiming,
    async addFaults({ kind, times, of }) {
      const delay = kind === 'quota' ? { retryDelayMs: RETRY_DELAY_MS } : {};
      const fault = { kind, times, match: { role: ROLES[of] }, ...delay };
      await call('faults', { method: 'POST', body: { faults: [fault] } });
    },
    async callsAfter(n) {
      const { entries } = journalSchema.parse(await call('journal', { method: 'GET' }));
      return entries.filter((entry) => entry.n > n).slice(-MAX_CALLS);
    },
    async state() {
      const { waiting } = waitingSchema.parse(await call('faults', { method: 'GET' }));
      return { waitingFaults: waiting, vices, timing };
    },
    async reset() {
      await call('faults', { method: 'DELETE' });
      await setVices({});
      await setTiming(usualTiming);
    },
  };
}
