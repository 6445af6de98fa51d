import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CLIENT_WRITABLE_FIELDS } from '#functions/config/environment.ts';
import { servedDocument } from '#infra/reference/api-document.ts';
import {
  endingQuery,
  createResources,
  createWireApp,
  type Resources,
  type WireApp,
} from '#test/support/chat/wire-app.ts';
import { answerProblems, reasonOf } from './document-check.ts';
import { requestsOf, targetsOf, type GeneratedRequest } from './generated-requests.ts';
import { searchCases } from '#test/support/search-cases.ts';

/** The same requests in every run; FUZZ_SEED and FUZZ_REQUESTS look at others. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);
const requests = Number(process.env.FUZZ_REQUESTS ?? Math.max(4_000, searchCases(5_000)));

const document = servedDocument();
const names = document.components.schemas;
const targets = targetsOf(document);
const operationIds = targets.map(({ operation }) => operation.operationId);

const UIDS = ['alice', 'bob', 'carol'];

/** Its body holds messages of any form, and few that are made up are of one that is taken. */
const RARELY = 'aiSdkChat';

/** Reasons that say of a request that it is not what the document asks for. */
const SCHEMA_REASONS = ['BAD_FIELD', 'BAD_PART', 'BAD_JSON'];

interface World {
  app: WireApp;
  /** What each user has; erased now and then by the requests themselves. */
  owned: Map<string, Resources>;
}

async function newWorld(): Promise<World> {
  const app = createWireApp({}, { CLIENT_WRITABLE: CLIENT_WRITABLE_FIELDS.join(',') });
  const owned = new Map<string, Resources>();
  for (const uid of UIDS) owned.set(uid, await createResources(app, { uid, canary: 'words' }));
  return { app, owned };
}

/** An answer is a message, too. */
const ownId = (own: Resources, name: string, choice: number) =>
  (name === 'messageId' && choice % 2 === 1 ? own['answerId'] : own[name]) ?? 'unknown';

function addressOf({ target, path, query }: GeneratedRequest, own: Resources): string {
  const place = target.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    const text = value && 'text' in value ? value.text : ownId(own, name, value?.known ?? 0);
    return encodeURIComponent(text);
  });
  const ending = endingQuery(target.path);
  return `${place}?${ending === '' ? new URLSearchParams(query).toString() : ending}`;
}

const isOfKnownIds = ({ path }: GeneratedRequest) =>
  Object.values(path).every((value) => 'known' in value);

/** Right or wrong by what the stream has sent, not by how it is written. */
const isOfState = ({ query }: GeneratedRequest, answer: { text: string }) =>
  query.some(([name]) => name === 'startingAfter') && answer.text.includes('`startingAfter`');

function problemsOf(request: GeneratedRequest, answer: Awaited<ReturnType<WireApp['call']>>) {
  const reason = reasonOf(answer);
  const { target } = request;
  // What a façade takes is its protocol's to say; ours is the document's.
  const isFacade = target.operation['x-format'] !== undefined;
  const kind = isFacade ? 'wild' : request.kind;
  return [
    ...(answer.status >= 500 ? ['a 5xx'] : []),
    ...(/<html|\.(js|ts):\d+/i.test(answer.text) ? ['HTML or a stack'] : []),
    ...(kind === 'valid' && SCHEMA_REASONS.includes(reason ?? '') && !isOfState(request, answer)
      ? ['a valid one refused']
      : []),
    ...answerProblems(answer, target, names),
  ];
}

test(
  `${requests} requests made from the OpenAPI document are answered as it says`,
  { timeout: 300_000 },
  async () => {
    const world = await newWorld();
    const tally = new Map<string, number>();
    const succeeded = new Set<string>();
    /** A problem and the last request that had it. */
    const found = new Map<string, string>();
    let turn = 0;
    const property = fc.asyncProperty(
      fc.oneof(...targets.map((target) => requestsOf(target, document))),
      async (request) => {
        // What piles up makes exports slow.
        if (++turn % 1_000 === 0) Object.assign(world, await newWorld());
        const uid = UIDS[turn % UIDS.length] ?? 'alice';
        const path = addressOf(request, world.owned.get(uid) ?? {});
        const { target, headers, body } = request;
        const answer = await world.app.call({ method: target.method, path, uid, headers, body });

        // Deleted or erased by a request before: who has nothing gets nothing but 404.
        if (reasonOf(answer) === 'CONVERSATION_NOT_FOUND' && isOfKnownIds(request))
          world.owned.set(uid, await createResources(world.app, { uid, canary: 'words' }));
        if (answer.status < 300) succeeded.add(target.operation.operationId);
        const key = `${request.kind} ${answer.status}`;
        tally.set(key, (tally.get(key) ?? 0) + 1);
        for (const problem of problemsOf(request, answer))
          found.set(
            `${target.operation.operationId}: ${problem}`,
            `${path} ${JSON.stringify(headers)} ${body} → ${answer.status} ${answer.text.slice(0, 500)}`,
          );
      },
    );

    const run = await fc.check(property, { seed, numRuns: requests, endOnFailure: true });
    const counts = [...tally]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([key, count]) => `${key}: ${count}`);
    console.log(`FUZZ_SEED=${run.seed}, ${run.numRuns} requests: ${counts.join(', ')}`);
    expect(run.errorInstance ?? undefined).toBeUndefined();
    expect(Object.fromEntries(found)).toEqual({});
    // Nobody is a guest; no turn runs any more when the next request comes, and none waits for the app; nobody guesses a
    // token.
    expect(operationIds.filter((id) => !succeeded.has(id) && id !== RARELY)).toEqual([
      'claimGuest',
      'readFoldedTurns',
      'cancelTurn',
      'answerToolCalls',
      'cancelResponse',
      'cancelResponseAsAlias',
    ]);
    // Not all of one kind: otherwise nothing was tried.
    expect(tally.get('valid 200')).toBeGreaterThan(requests / 20);
  },
);
