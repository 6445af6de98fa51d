import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Finding, hashOf, type Ledger } from '../checks/check-transcripts.ts';
import { messageText } from '../phones/message-text.ts';
import type { Random } from '../random.ts';
import {
  type AppCommand,
  appReportSchema,
  type AppSettings,
  type ShownMessage,
} from './app-messages.ts';

const entry = fileURLToPath(new URL('app-process.ts', import.meta.url));
/** Ends the process when this one is gone. */
const leash = new URL('../../../infra/local/processes/exit-with-parent.ts', import.meta.url).href;

const SHOW_EVERY_MS = 700;
/** Its user is away for so long now and then. */
const AWAY_MS = 1_500;
/** Kills of the process: one after so many ms. */
const LIFE_MS = { min: 400, max: 6_000 };

interface AppOptions extends Omit<AppSettings, 'folder'> {
  ledger: Ledger;
  random: Random;
  /** Called before a message is typed. */
  onMessage: (message: { conversationId: string; messageId: string; text: string }) => void;
  count: (name: string) => void;
  /** Fires when no new message is to be begun. */
  stopping: AbortSignal;
  /** Fires when the run is over. */
  deadline: AbortSignal;
}

/** A message that the app said is kept: it is to be answered, in its place. */
interface KeptMessage {
  conversationId: string;
  messageId: string;
}

/**
 * A person's app, built on the package: messages are typed into it, its process is killed in the middle of everything and
 * started again with the same store. What it said to be kept is checked in the end.
 */
export class App {
  readonly #options: AppOptions;
  readonly #kept: KeptMessage[] = [];
  readonly #typed = new Map<string, string>();
  #shown: readonly ShownMessage[] = [];
  #folder = '';
  #child: ChildProcess | undefined;
  #count = 0;

  constructor(options: AppOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#folder ||= await mkdtemp(join(tmpdir(), 'recap-app-'));
    const { chatUrl, token, timeScale, conversationIds } = this.#options;
    const settings: AppSettings = {
      chatUrl,
      token,
      timeScale,
      conversationIds,
      folder: this.#folder,
    };
    const child = spawn(process.execPath, ['--import', leash, entry, JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (message) => this.#hear(message));
    child.on('error', () => undefined);
    this.#child = child;
    // The first that it tells is that it is there.
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
  }

  #hear(message: unknown): void {
    const report = appReportSchema.parse(message);
    if (report.kind === 'shown') this.#shown = report.messages;
    if (report.kind === 'kept') {
      const conversationId = this.#typed.get(report.messageId);
      if (conversationId !== undefined)
        this.#kept.push({ conversationId, messageId: report.messageId });
    }
  }

  #tell(command: AppCommand): void {
    // A process that has just been killed is told nothing.
    if (this.#child?.connected) this.#child.send(command, () => undefined);
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  #type(): void {
    const { random, conversationIds, ledger, onMessage } = this.#options;
    const conversationId = random.pick(conversationIds);
    const messageId = random.uuid();
    const text = messageText(random, (this.#count += 1));
    onMessage({ conversationId, messageId, text });
    ledger.send({ conversationId, messageId, text });
    this.#typed.set(messageId, conversationId);
    const onBusy = random.chance(0.1) ? 'interrupt' : 'queue';
    this.#tell({ kind: 'send', conversationId, messageId, text, onBusy });
    if (random.chance(0.05)) this.#tell({ kind: 'stop', conversationId });
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#options.deadline }).catch(() => undefined);
  }

  /** Is typed into, and killed again and again, until it is to stop. */
  async live(): Promise<void> {
    const { random, stopping, count } = this.#options;
    await this.start();
    let diesAt = performance.now() + random.integer(LIFE_MS.min, LIFE_MS.max);
    while (!stopping.aborted) {
      this.#type();
      // Bursts, as somebody types who is offline.
      await this.#wait(random.chance(0.2) ? 5 : random.integer(400, 2_600));
      if (random.chance(0.03)) {
        this.#tell({ kind: 'setActive', isActive: false });
        await this.#wait(AWAY_MS);
        this.#tell({ kind: 'setActive', isActive: true });
      }
      if (performance.now() < diesAt) continue;
      await this.kill();
      count('app: kill -9');
      await this.#wait(random.integer(20, 800));
      await this.start();
      diesAt = performance.now() + random.integer(LIFE_MS.min, LIFE_MS.max);
    }
  }

  #isKnown(messageId: string): boolean {
    const shown = this.#shown.find((message) => message.messageId === messageId);
    return (
      shown?.state === 'failed' ||
      (shown?.answer !== undefined && ['done', 'stopped'].includes(shown.answer.state))
    );
  }

  /** Is started once more, and looked at until it shows how each message stands that it has kept. */
  async comeToRest(): Promise<void> {
    await this.kill();
    await this.start();
    do {
      await this.#wait(SHOW_EVERY_MS);
      this.#tell({ kind: 'show' });
    } while (
      !this.#options.deadline.aborted &&
      !this.#kept.every(({ messageId }) => this.#isKnown(messageId))
    );
  }

  /** What it shows in the end goes into the ledger; what is wrong with it comes back. */
  settle(): Finding[] {
    const { ledger, count } = this.#options;
    const findings: Finding[] = [];
    const lastSeqs = new Map<string, number>();
    for (const { conversationId, messageId } of this.#kept) {
      count('app: kept message');
      const shown = this.#shown.find((message) => message.messageId === messageId);
      const place = { conversationId, messageId };
      if (shown?.seq === undefined || !this.#isKnown(messageId)) {
        const found = shown ? `${shown.state}, ${shown.answer?.state} ${shown.reason}` : 'nothing';
        findings.push({
          kind: 'unfinished',
          ...place,
          what: `kept by the app, which shows ${found}`,
        });
        continue;
      }
      const { seq, answer } = shown;
      if (seq <= (lastSeqs.get(conversationId) ?? 0))
        findings.push({ kind: 'mismatched', ...place, what: `sent out of order, as ${seq}` });
      lastSeqs.set(conversationId, seq);
      const answerHash = hashOf(answer?.text ?? '');
      ledger.acknowledge({ ...place, outcome: 'answered', seq, answerHash, at: new Date() });
    }
    return findings;
  }

  async stop(): Promise<void> {
    await this.kill();
    if (this.#folder !== '') await rm(this.#folder, { recursive: true, force: true });
  }
}
