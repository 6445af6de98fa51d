import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  editMessageBody,
  regenerateBody,
  sendMessageBody,
} from '#shared/wire/resources/messages.ts';
import { toolResultsBody } from '#shared/wire/resources/tool-results.ts';
import { z } from 'zod';
import type { Line, Outcome } from './control.ts';
import { listen, type Exchange } from './exchange.ts';
import { createNames, type Names } from './match.ts';
import { createReplies, type Replies } from './replies.ts';
import type { RequestStep, Scenario, Step, Timings } from './scenario.ts';
import { createService } from './service.ts';

/** A client that scenarios are played to. */
export interface Client {
  line: Line;
  /** Ends it as `kill -9` does, and starts it again; its stores stay. */
  kill(): Promise<void>;
}

/** How long the judge waits for a request or a state, ms. */
const PATIENCE_MS = 8_000;
const LOOK_AGAIN_MS = 10;
/** By then a client has kept what it shows; only messages are promised to be kept at once. */
const SETTLE_MS = 250;
/** Whoever sends too much has sent it by then. */
const QUIET_MS = 60;

const timings: Timings = {
  silenceMs: 10_000,
  callMs: 10_000,
  backOffMs: [20, 40, 80],
  watchMs: 50,
};

/** What every body of a path must be for the service to take it. */
const bodies: readonly (readonly [RegExp, z.ZodType])[] = [
  [/\/messages$/, sendMessageBody],
  [/:edit$/, editMessageBody],
  [/:regenerate$/, regenerateBody],
  [/\/toolResults$/, toolResultsBody],
];

const base64Url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** As an ID token is, without a signature. */
function idToken(user: string, number: number, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000);
  const claims = { sub: user, user_id: user, iat: seconds, exp: seconds + 3600, number };
  return `${base64Url({ alg: 'none', typ: 'JWT' })}.${base64Url(claims)}.`;
}

const describe = ({ method, path, query, bytes }: Exchange): string => {
  const search = query.size > 0 ? `?${query.toString()}` : '';
  return `${method} ${path}${search} ${bytes.toString().slice(0, 400)}`.trimEnd();
};

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

class Play {
  readonly #scenario: Scenario;
  readonly #client: Client;
  readonly #service;
  readonly #failed = Promise.withResolvers<never>();
  readonly #exchanges: Exchange[] = [];
  /** Came, and are not expected yet. */
  #held: Exchange[] = [];
  readonly #names: Names = createNames([1, 2, 3].map((index) => [`$c${index}`, randomUUID()]));
  readonly #replies: Replies;
  /** Bytes of each message, by its id. */
  readonly #bodies = new Map<string, string>();
  readonly #calls = new Map<string, Promise<Outcome>>();
  readonly #stores = randomUUID().slice(0, 8);
  readonly #tokens = { user: 'user-1', number: 1, isRejected: false };
  #ahead: readonly RequestStep[];
  #wake: () => void = () => undefined;
  #baseUrl = '';
  #created: unknown;
  #network: 'up' | 'down' | 'forbidden' = 'up';
  #repliedAt = 0;

  constructor(scenario: Scenario, client: Client) {
    this.#scenario = scenario;
    this.#client = client;
    this.#service = createService(scenario.clockHours);
    const { silenceMs } = { ...timings, ...scenario.timings };
    this.#replies = createReplies(this.#service, this.#names, silenceMs);
    this.#ahead = scenario.steps.filter((step) => step.kind === 'request');
    this.#failed.promise.catch(() => undefined);
  }

  /** Throws why the client does not hold. */
  async run(): Promise<void> {
    const server = await listen(
      () => this.#service.now(),
      (exchange) => this.#arrived(exchange),
    );
    this.#baseUrl = server.url;
    this.#client.line.tokens = (isForced) => {
      if (this.#tokens.isRejected) return undefined;
      if (isForced) this.#tokens.number += 1;
      return idToken(this.#tokens.user, this.#tokens.number, this.#service.now());
    };
    try {
      for (const [index, step] of this.#scenario.steps.entries()) {
        const problem = await this.#play(step).then(() => undefined, reasonOf);
        if (problem !== undefined) throw new Error(`step ${index + 1} ${step.text}\n${problem}`);
      }
      await this.#closeDown();
    } finally {
      await this.#client.line.ask({ name: 'close', value: true }).catch(() => undefined);
      server.stop();
    }
  }

  /** Nothing was sent that nobody expects, and closing ends all connections. */
  async #closeDown(): Promise<void> {
    await Promise.race([pause(QUIET_MS), this.#failed.promise]);
    await this.#client.line.ask({ name: 'close', value: true });
    const open = () => this.#exchanges.filter((exchange) => !exchange.isClosed());
    await this.#until(
      () => open().length === 0,
      () => `after close() these are still open: ${open().map(describe).join('; ')}`,
    );
    if (this.#held.length > 0)
      throw new Error(`at the end: nobody expects ${this.#held.map(describe).join('; ')}`);
  }

  /** Waits for what `isSo` asks for, as long as nothing else is wrong. */
  async #until(isSo: () => boolean, problem: () => string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!isSo()) {
      if (Date.now() > deadline) throw new Error(problem());
      const woken = new Promise<void>((resolve) => void (this.#wake = resolve));
      await Promise.race([woken, pause(LOOK_AGAIN_MS), this.#failed.promise]);
    }
  }

  #fails(reason: string): void {
    this.#failed.reject(new Error(reason));
    this.#wake();
  }

  #isMeant(step: { method: string; path: string }, { method, path }: Exchange): boolean {
    return step.method === method && this.#names.matchPath(step.path, path) !== undefined;
  }

  #arrived(exchange: Exchange): void {
    this.#exchanges.push(exchange);
    if (this.#network === 'down') return exchange.reset();
    if (this.#network === 'forbidden')
      return this.#fails(`nothing may be sent; came ${describe(exchange)}`);
    void exchange.closed.then(() => this.#wake());
    if (this.#ahead.some((step) => this.#isMeant(step, exchange))) {
      this.#held.push(exchange);
      this.#wake();
    } else if (!this.#replyByDefault(exchange)) {
      const expected = this.#ahead.map(({ method, path }) => `${method} ${path}`);
      this.#fails(
        `nobody expects ${describe(exchange)}\nexpected later: ${expected.join(', ') || 'nothing'}`,
      );
    }
  }

  /** What every request of a client has. */
  #checkRequest(exchange: Exchange, { newBody = false } = {}): void {
    const { method, path, headers, body, bytes } = exchange;
    if (path.startsWith('/files/')) return;
    if (!headers['authorization']?.startsWith('Bearer ')) throw new Error('it has no token');
    const schema = bodies.find(([pattern]) => method === 'POST' && pattern.test(path))?.[1];
    if (!schema) return;
    const read = schema.safeParse(body);
    if (!read.success)
      throw new Error(`the service refuses the body: ${z.prettifyError(read.error)}`);
    const { message, id = message?.id } = body as { id?: string; message?: { id: string } };
    if (id === undefined) return;
    const sent = bytes.toString();
    const before = this.#bodies.get(id);
    if (before !== undefined && before !== sent && !newBody)
      throw new Error(`message ${id} has another body than before:\n${before}\n${sent}`);
    this.#bodies.set(id, sent);
  }

  /** Whether the service has a reply of its own. */
  #replyByDefault(exchange: Exchange): boolean {
    try {
      this.#checkRequest(exchange);
      return this.#replies.replyByDefault(exchange);
    } catch (error) {
      this.#fails(`${reasonOf(error)}: ${describe(exchange)}`);
      return true;
    }
  }

  #exchange(name: string): Exchange {
    const exchange = this.#replies.named.get(name);
    if (!exchange) throw new Error(`no request is named ${name}`);
    return exchange;
  }

  async #play(step: Step): Promise<void> {
    const service = this.#service;
    switch (step.kind) {
      case 'command':
        return this.#command(step);
      case 'request':
        return this.#request(step);
      case 'push':
        await this.#until(
          () => this.#replies.named.has(step.exchange),
          () => `no request is named ${step.exchange}`,
        );
        return this.#replies.push(this.#exchange(step.exchange), step.events);
      case 'cut':
        return this.#exchange(step.exchange).reset();
      case 'end':
        return this.#exchange(step.exchange).end();
      case 'hungUp': {
        const exchange = this.#exchange(step.exchange);
        return this.#until(
          () => exchange.isClosed(),
          () => `the client did not hang up ${describe(exchange)}`,
        );
      }
      case 'finished':
        this.#judge(step, await this.#calls.get(step.call));
        return;
      case 'state':
        return this.#look({ name: 'state', chat: step.chat }, step.expected);
      case 'rows':
        return this.#look({ name: 'rows', list: step.list }, step.expected);
      case 'stored':
        return service.store(this.#names.fill(step.chat), this.#names.fill(step.turns));
      case 'conversation': {
        const chat = this.#names.fill(step.chat);
        if (step.fields === null) service.conversations.delete(chat);
        else service.conversation(chat).fields = step.fields;
        return;
      }
      case 'inbox':
        service.setRows(
          this.#names
            .fill(step.rows)
            .flatMap(({ times = 1, ...row }) =>
              Array.from({ length: Number(times) }, (_, index) =>
                times === 1 ? row : { id: randomUUID(), title: `Row ${index + 1}`, ...row },
              ),
            ),
        );
        return;
      case 'tokens':
        this.#tokens.user = step.user ?? 'user-1';
        this.#tokens.isRejected = step.reject === true;
        return;
      case 'notYet': {
        const came = this.#held.find((held) => this.#isMeant(step, held));
        if (came) throw new Error(`it came: ${describe(came)}`);
        return;
      }
      case 'network':
        // What was on its way comes before.
        if (step.network !== 'down') await pause(QUIET_MS);
        this.#network = step.network;
        if (step.network === 'down') for (const exchange of this.#exchanges) exchange.reset();
        return;
      case 'kill':
        return this.#kill(step.isLater);
    }
  }

  async #kill(isLater: boolean): Promise<void> {
    if (isLater) await pause(SETTLE_MS);
    await this.#client.kill();
    const open = () => this.#exchanges.filter((exchange) => !exchange.isClosed());
    await this.#until(
      () => open().length === 0,
      () => 'connections outlived the client',
    );
    this.#held = [];
    this.#replies.killed();
    await this.#create(this.#created);
  }

  async #create(options: unknown): Promise<void> {
    this.#created = options;
    const { store = 'store', ...given } = options as { store?: string };
    const value = {
      baseUrl: this.#baseUrl,
      timings: { ...timings, ...this.#scenario.timings },
      ...given,
      store: `${this.#stores}-${store}`,
    };
    this.#judge({}, await this.#client.line.ask({ name: 'create', value }));
  }

  async #command(step: Extract<Step, { kind: 'command' }>): Promise<void> {
    const { name } = step;
    if (name === 'create') return this.#create(step.value);
    if (this.#created === undefined) await this.#create({});
    const value = this.#valueOf(step);
    const chat = this.#names.fill(step.chat);
    const outcome = this.#client.line.ask({ name, chat, value });
    outcome.catch(() => undefined);
    if (step.later !== undefined) return void this.#calls.set(step.later, outcome);
    const { result } = this.#judge(step, await Promise.race([outcome, this.#failed.promise]));
    if (step.as !== undefined) this.#names.bind(`$${step.as}`, String(result));
    // What it had sent before may not have been read yet: the next step is not for that.
    if (name === 'close') await pause(QUIET_MS);
  }

  #valueOf({ name, value }: Extract<Step, { kind: 'command' }>): unknown {
    const filled = this.#names.fill(value);
    if (name !== 'claim') return filled;
    const { guest, store } = filled as { guest: string; store: string };
    return {
      guestToken: idToken(guest, 1, this.#service.now()),
      guestStore: `${this.#stores}-${store}`,
    };
  }

  #judge(step: { result?: unknown; error?: unknown }, outcome: Outcome | undefined): Outcome {
    if (!outcome) throw new Error('no such call was made');
    if (step.error === undefined && outcome.error)
      throw new Error(`it failed: ${JSON.stringify(outcome.error)}`);
    const expected = {
      ...(step.result !== undefined && { result: step.result }),
      ...(step.error !== undefined && { error: step.error }),
    };
    this.#mustMatch(expected, outcome);
    return outcome;
  }

  #mustMatch(expected: unknown, actual: unknown): void {
    const problems = this.#names.match(expected, actual, this.#service.now());
    if (problems.length > 0)
      throw new Error(`${problems.join('\n')}\nin ${JSON.stringify(actual).slice(0, 3_000)}`);
  }

  /** Until the client shows what is expected. */
  async #look(
    at: { name: 'state' | 'rows'; chat?: string; list?: string },
    expected: unknown,
  ): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    const chat = at.chat === undefined ? {} : { chat: this.#names.fill(at.chat) };
    for (;;) {
      const asked = this.#client.line.ask({ name: at.name, ...chat, value: at.list ?? true });
      const { result, error } = await Promise.race([asked, this.#failed.promise]);
      if (error) throw new Error(`it cannot be read: ${JSON.stringify(error)}`);
      try {
        return this.#mustMatch(expected, result);
      } catch (problem) {
        if (Date.now() > deadline) throw problem;
      }
      await pause(LOOK_AGAIN_MS);
    }
  }

  async #request(step: RequestStep): Promise<void> {
    const taken = () => this.#held.find((held) => this.#isMeant(step, held));
    await this.#until(
      () => taken() !== undefined,
      () => `it did not come; what came: ${this.#held.map(describe).join('; ') || 'nothing'}`,
    );
    const exchange = taken();
    if (!exchange) return;
    this.#held = this.#held.filter((held) => held !== exchange);
    this.#ahead = this.#ahead.filter((ahead) => ahead !== step);
    this.#checkRequest(exchange, step);
    const bound = this.#names.matchPath(step.path, exchange.path) ?? {};
    for (const [name, value] of Object.entries(bound)) this.#names.bind(`$${name}`, value);
    const waitedMs = exchange.arrivedAt - this.#repliedAt;
    // One that nobody delays may have come before the one before it was replied to.
    if (step.waitsMs !== undefined && waitedMs < step.waitsMs)
      throw new Error(`it came after ${Math.round(waitedMs)} ms`);
    const { query, headers, body, token, as } = step;
    const claims = exchange.headers['authorization']?.split('.')[1] ?? '';
    this.#mustMatch(
      {
        ...(query && { query }),
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
        ...(token !== undefined && { token }),
      },
      {
        query: Object.fromEntries(exchange.query),
        headers: exchange.headers,
        body: exchange.body ?? exchange.bytes.toString(),
        ...(token !== undefined && {
          token: (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { number: unknown })
            .number,
        }),
      },
    );
    if (as !== undefined) this.#replies.named.set(as, exchange);
    this.#repliedAt = performance.now();
    if (step.reply !== undefined) this.#replies.reply(exchange, step.reply);
    else if (!this.#replyByDefault(exchange)) this.#replies.reply(exchange, {});
  }
}

/** Throws why the client does not do what the scenario says. */
export const playScenario = (scenario: Scenario, client: Client): Promise<void> =>
  new Play(scenario, client).run();
