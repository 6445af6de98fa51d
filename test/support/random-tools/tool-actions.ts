import fc from 'fast-check';

/** What the app says to the calls that wait, by their place among them. */
export interface Said {
  /** Default: all calls. */
  only?: number;
  isGood: boolean;
}

/** What a user, an app, the passing of time or a worker does to one conversation. */
export type ToolAction =
  | { kind: 'say'; rounds: string[][] }
  | { kind: 'edit'; back: number; rounds: string[][] }
  | { kind: 'regenerate' }
  | { kind: 'dies'; rounds: string[][]; point: DeathPoint; nth: number; isSentAgain: boolean }
  | ({ kind: 'answer' } & Said)
  | { kind: 'answerAgain'; isOther: boolean }
  | { kind: 'expire' }
  | { kind: 'sweep' }
  | { kind: 'switch'; to: string }
  | { kind: 'cancel' }
  | { kind: 'compact' };

const deathPoints = ['calls-stored', 'tools-ran', 'responses-stored', 'turn-resumed'] as const;
export type DeathPoint = (typeof deathPoints)[number];

/** Models that sign calls, one that signs nothing, and the choice between two. */
const models = ['gemini-3.8-flash', 'gemini-3.1-pro-preview', 'gemini-2.5-flash', 'auto'];

/** A tool of each kind: of the server, failing, unknown, of the app, and one that the user is asked about. */
const calls = [
  'call weather {"city":"Oslo"}',
  'call weather {"city":7}',
  'call large {"bytes":900}',
  'call broken',
  'call refusing',
  'call nothing',
  'call locate {"question":"where"}',
  'call choose',
  'call transfer {"amount":5}',
];

const rounds = fc.array(fc.array(fc.constantFrom(...calls), { minLength: 1, maxLength: 4 }), {
  maxLength: 3,
});

const says = fc.record({ kind: fc.constant('say' as const), rounds });
const edits = fc.record({ kind: fc.constant('edit' as const), back: fc.nat(3), rounds });
const dies = fc.record({
  kind: fc.constant('dies' as const),
  rounds,
  point: fc.constantFrom(...deathPoints),
  nth: fc.constantFrom(1, 2),
  isSentAgain: fc.boolean(),
});
const answers = fc.record(
  { kind: fc.constant('answer' as const), only: fc.nat(3), isGood: fc.boolean() },
  { requiredKeys: ['kind', 'isGood'] },
);
const answersAgain = fc.record({
  kind: fc.constant('answerAgain' as const),
  isOther: fc.boolean(),
});
const switches = fc.record({
  kind: fc.constant('switch' as const),
  to: fc.constantFrom(...models),
});
const plain = fc
  .constantFrom('regenerate' as const, 'expire' as const, 'sweep' as const, 'cancel' as const)
  .map((kind) => ({ kind }));

export const toolActions: fc.Arbitrary<ToolAction[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: says },
    { weight: 7, arbitrary: answers },
    { weight: 2, arbitrary: answersAgain },
    { weight: 2, arbitrary: edits },
    { weight: 2, arbitrary: dies },
    { weight: 4, arbitrary: plain },
    { weight: 3, arbitrary: switches },
    { weight: 2, arbitrary: fc.constant({ kind: 'compact' as const }) },
  ),
  { minLength: 3, maxLength: 9 },
);
