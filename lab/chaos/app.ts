import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Line, openLine } from '#test/conformance/judge/control.ts';
import type { Driver, Launcher } from '#test/conformance/launchers/launcher.ts';
import { type Finding, hashOf, type Ledger } from './checks/check-transcripts.ts';
import { messageText } from './phones/message-text.ts';
import type { Random } from './random.ts';

const SHOW_EVERY_MS = 700;
/** Its user is away for so long now and then. */
const AWAY_MS = 1_500;
/** Kills of the process: one after so many ms. */
const LIFE_MS = { min: 400, max: 6_000 };
const TIMINGS = {
  silenceMs: 4_000,
  callMs: 8_000,
  backOffMs: [100, 200, 400, 800, 1_500],
  watchMs: 500,
};

const stateSchema = z.looseObject({
  transcript: z.array(
    z.looseObject({
      id: z.string(),
      role: z.enum(['user', 'model']),
      state: z.string(),
      text: z.string(),
      seq: z.number().optional(),
      error: z.looseObject({ reason: z.string(), isRetryable: z.boolean() }).optional(),
    }),
  ),
});
type ShownMessage = z.infer<typeof stateSchema>['transcript'][number];

interface AppOptions {
  /** Starts its process: a driver of the conformance suite. */
  launcher: Launcher;
  uid: string;
  chatUrl: string;
  token: string;
  conversationIds: readonly string[];
  ledger: Ledger;
  random: Random;
  /** Called before a message is typed. */
  onMessage: (message: { conversationId: string; text: string }) => void;
  count: (name: string) => void;
  /** Fires when no new message is to be begun. */
  stopping: AbortSignal;
  /** Fires when the run is over. */
  deadline: AbortSignal;
}

interface TypedMessage {
  conversationId: string;
  text: string;
  /** Its id, since the app said that it is kept: it is to be answered, in its place. */
  keptAs?: string;
}

/**
 * A person's app, built on a client package: messages are typed into it, its process is killed in the middle of everything
 * and started again with the same store. What it said to be kept is checked in the end.
 */
export class App {
  readonly #options: AppOptions;
  readonly #typed: TypedMessage[] = [];
  readonly #shown = new Map<string, readonly ShownMessage[]>();
  #line: Line | undefined;
  #driver: Driver | undefined;

  constructor(options: AppOptions) {
    this.#options = options;
  }

  /** What came of it; undefined where its process was killed, or took too long. */
  async #ask(name: string, value: unknown, chat?: string): Promise<unknown> {
    const command = { name, value, ...(chat !== undefined && { chat }) };
    try {
      return (await this.#line?.ask(command))?.result;
    } catch {
      return undefined;
    }
  }

  async #start(): Promise<void> {
    const { launcher, chatUrl, token, uid, conversationIds } = this.#options;
    const line = (this.#line ??= await openLine());
    line.tokens = () => token;
    this.#driver = await launcher.launch(line.url);
    await this.#ask('create', { baseUrl: chatUrl, store: uid, timings: TIMINGS });
    await Promise.all(conversationIds.map((id) => this.#ask('open', true, id)));
    await this.#ask('openList', 'active');
  }

  async #kill(): Promise<void> {
    await this.#driver?.kill();
    this.#driver = undefined;
    this.#line?.drop();
  }

  #type(): void {
    const { random, conversationIds, ledger, onMessage } = this.#options;
    const conversationId = random.pick(conversationIds);
    const text = messageText(random, this.#typed.length + 1);
    const typed: TypedMessage = { conversationId, text };
    this.#typed.push(typed);
    onMessage(typed);
    const onBusy = random.chance(0.1) ? 'interrupt' : 'queue';
    void this.#ask('send', { text, onBusy }, conversationId).then((messageId) => {
      if (typeof messageId !== 'string') return;
      typed.keptAs = messageId;
      ledger.send({ conversationId, messageId, text });
    });
    if (random.chance(0.05)) void this.#ask('stop', true, conversationId);
  }

  /** Looks at all that it shows; what failed is sent again, as a user does who sees it. */
  async #look(): Promise<void> {
    const { conversationIds, ledger } = this.#options;
    for (const conversationId of conversationIds) {
      const { data } = stateSchema.safeParse(await this.#ask('state', true, conversationId));
      if (!data) continue;
      this.#shown.set(conversationId, data.transcript);
      for (const { id: messageId, role, text, state, error } of data.transcript) {
        const isFailed = state === 'failed' && error?.isRetryable === true;
        if (isFailed) void this.#ask('retry', messageId, conversationId);
        // The process may have been killed before it said that it has kept one.
        const isTyped = this.#typed.some((typed) => typed.text === text);
        if (role === 'user' && isTyped) ledger.send({ conversationId, messageId, text });
      }
    }
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#options.deadline }).catch(() => undefined);
  }

  /** Is typed into, and killed again and again, until it is to stop. */
  async live(): Promise<void> {
    const { random, stopping, count } = this.#options;
    const drawEnd = () => performance.now() + random.integer(LIFE_MS.min, LIFE_MS.max);
    await this.#start();
    let diesAt = drawEnd();
    while (!stopping.aborted) {
      this.#type();
      void this.#look();
      // Bursts, as somebody types who is offline.
      await this.#wait(random.chance(0.2) ? 5 : random.integer(400, 2_600));
      if (random.chance(0.03)) {
        void this.#ask('setActive', false);
        await this.#wait(AWAY_MS);
        void this.#ask('setActive', true);
      }
      if (performance.now() < diesAt) continue;
      await this.#kill();
      count('app: kill -9');
      await this.#wait(random.integer(20, 800));
      await this.#start();
      diesAt = drawEnd();
    }
  }

  #find({ conversationId, keptAs }: TypedMessage) {
    const shown = this.#shown.get(conversationId) ?? [];
    const message = shown.find(({ id }) => id === keptAs);
    const answer = shown.find(({ role, seq }) => role === 'model' && seq === message?.seq);
    return { message, ...(message?.seq !== undefined && { answer }) };
  }

  #isKnown(typed: TypedMessage): boolean {
    const { message, answer } = this.#find(typed);
    return (
      message?.state === 'failed' ||
      (answer !== undefined && ['done', 'stopped'].includes(answer.state))
    );
  }

  get #kept(): TypedMessage[] {
    return this.#typed.filter(({ keptAs }) => keptAs !== undefined);
  }

  /** Is started once more, and looked at until it shows how each message stands that it has kept. */
  async comeToRest(): Promise<void> {
    const { conversationIds, deadline } = this.#options;
    await this.#kill();
    await this.#start();
    do {
      await this.#wait(SHOW_EVERY_MS);
      for (const id of conversationIds) {
        await this.#ask('refresh', true, id);
        while ((await this.#ask('loadOlder', 100, id)) === true);
      }
      await this.#look();
    } while (!deadline.aborted && !this.#kept.every((typed) => this.#isKnown(typed)));
  }

  /** What it shows in the end goes into the ledger; what is wrong with it comes back. */
  settle(): Finding[] {
    const { ledger, count } = this.#options;
    const findings: Finding[] = [];
    const lastSeqs = new Map<string, number>();
    for (const typed of this.#kept) {
      count('app: kept message');
      const { conversationId, keptAs: messageId = '' } = typed;
      const { message, answer } = this.#find(typed);
      const place = { conversationId, messageId };
      if (message?.seq === undefined || !this.#isKnown(typed)) {
        const reason = (message?.error ?? answer?.error)?.reason;
        const found = message ? `${message.state}, ${answer?.state} ${reason}` : 'nothing';
        const what = `kept by the app, which shows ${found}`;
        findings.push({ kind: 'unfinished', ...place, what });
        continue;
      }
      const { seq } = message;
      if (seq <= (lastSeqs.get(conversationId) ?? 0))
        findings.push({ kind: 'mismatched', ...place, what: `sent out of order, as ${seq}` });
      lastSeqs.set(conversationId, seq);
      const answerHash = hashOf(answer?.text ?? '');
      ledger.acknowledge({ ...place, outcome: 'answered', seq, answerHash, at: new Date() });
    }
    return findings;
  }

  async stop(): Promise<void> {
    await this.#kill();
    this.#line?.hangUp();
  }
}
