import { countRepairs, type RepairCounter, type Repairs } from '#shared/models/repairs.ts';
import type { Part, Content } from '#shared/models/content.ts';
import { boundedJson, jsonFault } from '#shared/lib/json-text.ts';

/** A content as a client may have written it. */
export interface LooseContent {
  role?: string | undefined;
  parts?: readonly Part[] | undefined;
}

/** Keys beside the payload of a part. */
const BESIDE: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'partMetadata',
]);

/** As declarations may be named (Gemini API, `FunctionDeclaration.name`). */
const NAME = /^[A-Za-z_][\w.:-]{0,63}$/u;
/** Of a function name; later models take 128, every one takes these. */
const NAME_CHARACTERS = 64;

/** A name that the API takes; the same for the same name, so that pairs stay pairs. */
function repairedName(name: string): string {
  const known = name.replaceAll(/[^\w.:-]/gu, '_');
  return (/^[A-Za-z_]/u.test(known) ? known : `_${known}`).slice(0, NAME_CHARACTERS);
}

const payloadKeys = (part: Part): string[] =>
  Object.entries(part).flatMap(([key, value]) =>
    value === undefined || BESIDE.has(key) ? [] : [key],
  );

/**
 * Whether there is something in a part. A signature may come with an empty text, and goes back as it came.
 */
const hasPayload = (part: Part): boolean =>
  payloadKeys(part).some(
    (key) => key !== 'text' || part.text !== '' || part.thoughtSignature !== undefined,
  );

/** What a part is for, the most telling first: of two payloads one may stand. */
const PRECEDENCE = ['functionCall', 'functionResponse', 'text', 'inlineData', 'fileData'] as const;

function withOnePayload(part: Part, repairs: RepairCounter): Part {
  const payloads = PRECEDENCE.filter((key) => part[key] !== undefined);
  const [first] = part.text === '' ? payloads.filter((key) => key !== 'text') : payloads;
  if (payloads.length < 2 || first === undefined) return part;
  repairs.add('payload');
  const others = new Set<string>(payloads.filter((key) => key !== first));
  return Object.fromEntries(Object.entries(part).filter(([key]) => !others.has(key)));
}

function withName(part: Part, repairs: RepairCounter): Part {
  const { functionCall, functionResponse } = part;
  const name = (functionCall ?? functionResponse)?.name;
  if (name === undefined || NAME.test(name)) return part;
  repairs.add('name');
  const mended = repairedName(name);
  return {
    ...part,
    ...(functionCall && { functionCall: { ...functionCall, name: mended } }),
    ...(functionResponse && { functionResponse: { ...functionResponse, name: mended } }),
  };
}

function withWholeCharacters(part: Part, repairs: RepairCounter): Part {
  if (jsonFault(part, Infinity) === undefined) return part;
  repairs.add('surrogate');
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, boundedJson(value, Infinity)]),
  );
}

/**
 * A part as the API takes it: one payload, a possible function name, whole characters. Undefined for one
 * without payload; the same object where nothing is wrong.
 */
function repairPart(part: Part, repairs: RepairCounter): Part | undefined {
  if (hasPayload(part))
    return withWholeCharacters(withName(withOnePayload(part, repairs), repairs), repairs);
  repairs.add('empty');
  return undefined;
}

const callId = ({ functionCall }: Part) => functionCall?.id;
const responseId = ({ functionResponse }: Part) => functionResponse?.id;

/** By id where both have one, else by name alone, in order. */
const pairings: readonly ((call: Part, response: Part) => boolean)[] = [
  (call, response) => callId(call) !== undefined && callId(call) === responseId(response),
  (call, response) => callId(call) === undefined || responseId(response) === undefined,
  // An id that fits nothing says less than the place right behind the call.
  () => true,
];

/** The response under the id of its call; the same object where it has it. */
function withCallId(call: Part, response: Part): Part {
  const { functionResponse } = response;
  const id = callId(call);
  if (functionResponse === undefined || functionResponse.id === id) return response;
  const { id: _, ...rest } = functionResponse;
  return { ...response, functionResponse: { ...(id !== undefined && { id }), ...rest } };
}

/** What becomes of a call or response that has lost its partner: another part, or nothing. */
type Orphaned = (part: Part) => Part | undefined;

export interface RepairedContents {
  /** Those that nothing was wrong with are the same objects. */
  contents: Content[];
  /** Absent where nothing was mended. */
  repairs?: Repairs | undefined;
}

/** A part, and where it stood. */
interface Placed {
  part: Part;
  content: number;
  place: number;
}

/** What the model said, and what it was told before it spoke again. */
interface Exchange {
  model: Placed[];
  responses: Placed[];
  user: Placed[];
}

type Side = keyof Exchange;

const newExchange = (): Exchange => ({ model: [], responses: [], user: [] });

const roles: Readonly<Record<string, Content['role']>> = {
  user: 'user',
  model: 'model',
  assistant: 'model',
  function: 'user',
  tool: 'user',
};

function sideOf(part: Part, role: Content['role']): Side {
  if (part.functionCall !== undefined) return 'model';
  return part.functionResponse === undefined ? role : 'responses';
}

const roleOf = (side: Side): Content['role'] => (side === 'model' ? 'model' : 'user');

/** Parts in exchanges: neighbours of one role fall together, responses stand apart from words. */
function exchangesOf(contents: readonly LooseContent[], repairs: RepairCounter): Exchange[] {
  const exchanges = [newExchange()];
  let current = exchanges[0] ?? newExchange();
  for (const [content, { role: given, parts = [] }] of contents.entries()) {
    const role = roles[given ?? ''];
    if (role === undefined || role !== given) repairs.add('role');
    if (parts.length === 0) repairs.add('empty');
    if (role === undefined) continue;
    for (const [place, stored] of parts.entries()) {
      const part = repairPart(stored, repairs);
      if (part === undefined) continue;
      const side = sideOf(part, role);
      if (roleOf(side) !== role) repairs.add('role');
      if (side === 'model' && current.responses.length + current.user.length > 0)
        exchanges.push((current = newExchange()));
      current[side].push({ part, content, place });
    }
  }
  return exchanges;
}

const isCall = ({ part }: Placed) => part.functionCall !== undefined;

/** Which response answers which call: of the same name, the one that fits best. Entries are told by themselves. */
function pairCalls(calls: readonly Placed[], responses: readonly Placed[]): Map<Placed, Placed> {
  const pairs = new Map<Placed, Placed>();
  const free = new Set(responses);
  for (const fits of pairings)
    for (const call of calls) {
      if (pairs.has(call)) continue;
      for (const response of free) {
        const isOther = response.part.functionResponse?.name !== call.part.functionCall?.name;
        if (isOther || !fits(call.part, response.part)) continue;
        pairs.set(call, response);
        free.delete(response);
        break;
      }
    }
  return pairs;
}

/** The responses in the order of their calls, under their ids. */
function inOrderOf(
  calls: readonly Placed[],
  pairs: ReadonlyMap<Placed, Placed>,
  repairs: RepairCounter,
): Placed[] {
  return calls.flatMap((call): Placed[] => {
    const response = pairs.get(call);
    if (!response) return [];
    const part = withCallId(call.part, response.part);
    if (part !== response.part) repairs.add('id');
    return [{ ...response, part }];
  });
}

/** Every call with its response, in the order of the calls; what has no partner is `orphaned`. */
function pairUp(exchange: Exchange, orphaned: Orphaned, repairs: RepairCounter): Exchange {
  const calls = exchange.model.filter(isCall);
  if (calls.length === 0 && exchange.responses.length === 0) return exchange;
  const pairs = pairCalls(calls, exchange.responses);
  const mended = (lone: Placed): Placed[] => {
    const part = orphaned(lone.part);
    return part ? [{ ...lone, part }] : [];
  };
  const answered = new Set(pairs.values());
  const unasked = exchange.responses.filter((response) => !answered.has(response));
  repairs.add('orphanCall', calls.length - pairs.size);
  repairs.add('orphanResponse', unasked.length);
  const responses = inOrderOf(calls, pairs, repairs);
  const model = exchange.model.flatMap((entry) =>
    !isCall(entry) || pairs.has(entry) ? [entry] : mended(entry),
  );
  return { model, responses, user: [...exchange.user, ...unasked.flatMap(mended)] };
}

/** Exchanges of which one has lost its side run together. */
function runTogether(exchanges: readonly Exchange[]): Exchange[] {
  const whole: Exchange[] = [];
  for (const exchange of exchanges) {
    const last = whole.at(-1);
    if (last && exchange.model.length === 0) last.user.push(...exchange.user);
    else if (last && last.responses.length + last.user.length === 0) {
      last.model.push(...exchange.model);
      last.responses = exchange.responses;
      last.user = exchange.user;
    } else whole.push({ ...exchange, model: [...exchange.model], user: [...exchange.user] });
  }
  return whole;
}

const isAscending = (entries: readonly Placed[]) =>
  entries.every((entry, index) => {
    const before = entries[index - 1];
    return (
      !before ||
      entry.content > before.content ||
      (entry.content === before.content && entry.place > before.place)
    );
  });

const isContent = (content: LooseContent, role: Content['role']): content is Content =>
  content.role === role && content.parts !== undefined;

/** The content of one side, and what it took to make it. */
function contentOf(
  { side, entries }: { side: Side; entries: readonly Placed[] },
  from: readonly LooseContent[],
  repairs: RepairCounter,
): Content[] {
  const [first] = entries;
  if (!first) return [];
  const source = from[first.content];
  const role = roleOf(side);
  const sources = new Set(entries.map(({ content }) => content));
  repairs.add('joined', sources.size - 1);
  if (!isAscending(entries)) repairs.add('order');
  const parts = entries.map(({ part }) => part);
  const isSame =
    source &&
    isContent(source, role) &&
    sources.size === 1 &&
    source.parts.length === parts.length &&
    parts.every((part, index) => part === source.parts[index]);
  return [isSame ? source : { ...source, role, parts }];
}

/** How many contents were taken apart: their words stood among responses. */
const apartIn = (exchanges: readonly Exchange[]): number =>
  exchanges.reduce((sum, { responses, user }) => {
    const among = new Set(responses.map(({ content }) => content));
    return sum + new Set(user.flatMap(({ content }) => (among.has(content) ? [content] : []))).size;
  }, 0);

/**
 * A history whose every content a model accepts, whatever it was before: known roles that take turns, no part
 * without payload, each call followed at once by a content of nothing but its responses in its order and
 * under its ids, whole characters. User words may follow responses as a content of their own: a content of
 * responses is refused where it holds anything else. Mending twice changes nothing; a whole history keeps its
 * objects. Order of words is kept on each side.
 */
export function repairContents(
  contents: readonly LooseContent[],
  orphaned: Orphaned = () => undefined,
): RepairedContents {
  const repairs = countRepairs();
  const paired = exchangesOf(contents, repairs).map((exchange) =>
    pairUp(exchange, orphaned, repairs),
  );
  const exchanges = runTogether(paired);
  repairs.add('order', apartIn(exchanges));
  const sides: readonly Side[] = ['model', 'responses', 'user'];
  const mended = exchanges.flatMap((exchange) =>
    sides.flatMap((side) => contentOf({ side, entries: exchange[side] }, contents, repairs)),
  );
  return { contents: mended, repairs: repairs.total() };
}
