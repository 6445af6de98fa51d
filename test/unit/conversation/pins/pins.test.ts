import { describe, expect, test } from 'vitest';
import {
  assembleContext,
  itemContents,
  assemblePrompt,
} from '#shared/conversation/context/assemble-context.ts';
import type { Pin } from '#shared/conversation/documents/conversation.ts';
import { withHookPins } from '#shared/conversation/pins/hook-pins.ts';
import { keptPins } from '#shared/conversation/pins/kept-pins.ts';
import { calibratedPinTokens, pinBudget, PINS_MAX } from '#shared/conversation/pins/pin-budget.ts';
import { decidePin, withoutPinsFrom } from '#shared/conversation/pins/pins.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

const pin = (id: string, text = `Fact ${id}.`, source: Pin['source'] = 'api'): Pin => ({
  id,
  text,
  source,
});
const longText = 'The user keeps bees on the roof. '.repeat(10).trim();
const budget = { budgetTokens: 125, calibration: 1 };

/** A budget that exactly these pins fill. */
const filledBy = (...pins: Pin[]) => ({
  budgetTokens: calibratedPinTokens(pins, budget),
  calibration: 1,
});

describe('the budget of pins', () => {
  test.each([
    ['the default threshold', 24_000, 48_000, 1_000],
    ['a small threshold', 1_000, 2_000, 125],
    ['no threshold', null, 800_000, 1_000],
    ['no threshold and a small window', null, 800, 100],
  ])('the pin budget with %s', (...[, softThresholdTokens, hardThresholdTokens, expected]) => {
    const policy = { softThresholdTokens, hardThresholdTokens };

    expect(pinBudget(policy, { calibration: 1.5 })).toEqual({
      budgetTokens: expected,
      calibration: 1.5,
    });
  });

  test('the pin budget counts pins as the conversation does', () => {
    const pins = [pin('a'), pin('b')];

    expect(calibratedPinTokens([], { calibration: 2 })).toBe(0);
    expect(calibratedPinTokens(pins, { calibration: 2 })).toBe(
      2 * calibratedPinTokens(pins, { calibration: 1 }),
    );
  });
});

describe('putting a pin', () => {
  test('putting a pin appends it or replaces the one of the same id', () => {
    const pins = [pin('a'), pin('b')];

    expect(decidePin(pins, pin('c'), budget)).toMatchObject({
      isNew: true,
      pins: [...pins, pin('c')],
    });
    expect(decidePin(pins, pin('a', 'Newer.'), budget)).toMatchObject({
      isNew: false,
      pins: [pin('a', 'Newer.'), pin('b')],
    });
  });

  test('putting the same pin again changes nothing', () => {
    expect(decidePin([pin('a')], pin('a'), budget)).toEqual({ kind: 'unchanged', pin: pin('a') });
  });

  test('a pin fits as long as it fills the budget exactly', () => {
    const exact = filledBy(pin('a'), pin('b'));
    const tight = { ...exact, budgetTokens: exact.budgetTokens - 1 };

    expect(decidePin([pin('a')], pin('b'), exact).kind).toBe('put');
    expect(decidePin([pin('a')], pin('b'), tight)).toMatchObject({
      kind: 'overBudget',
      remainingTokens: tight.budgetTokens - calibratedPinTokens([pin('a')], tight),
      neededTokens: exact.budgetTokens - calibratedPinTokens([pin('a')], tight),
    });
  });

  test('a pin may always be shortened, even over the budget', () => {
    const over = { budgetTokens: 20, calibration: 1 };

    expect(decidePin([pin('a', longText)], pin('a', longText.slice(0, 200)), over).kind).toBe(
      'put',
    );
    expect(decidePin([pin('a', longText)], pin('a', `${longText} And more.`), over).kind).toBe(
      'overBudget',
    );
  });

  test('a fifty-first pin is refused, but a replacement accepted', () => {
    const roomy = { budgetTokens: 100_000, calibration: 1 };
    const full = Array.from({ length: PINS_MAX }, (_, i) => pin(`p${i}`));

    expect(decidePin(full.slice(1), pin('last'), roomy).kind).toBe('put');
    expect(decidePin(full, pin('one-more'), roomy)).toEqual({ kind: 'tooMany' });
    expect(decidePin(full, pin('p7', 'Newer.'), roomy).kind).toBe('put');
  });
});

describe('pins of hooks', () => {
  test('pins of hooks replace older pins of hooks, never the owner’s', () => {
    const mine = pin('mine');
    const old = [pin('old-1', 'Hook 1.', 'hook'), pin('old-2', 'Hook 2.', 'hook')];
    const newest = pin('new', 'Hook 3.', 'hook');

    const { pins, leftOut } = withHookPins([mine, ...old], [newest], filledBy(mine, ...old));

    expect(pins).toEqual([mine, old[1], newest]);
    expect(leftOut).toEqual([]);
  });

  test('pins of hooks that do not fit are left out and evict nothing', () => {
    const pins = [pin('mine'), pin('old', 'Hook 1.', 'hook')];
    const returned = [{ id: 'long', text: longText }];

    expect(withHookPins(pins, returned, filledBy(...pins))).toEqual({ pins, leftOut: ['long'] });
  });

  test('pins of hooks replace those of the same id; the same text changes nothing', () => {
    const pins = [pin('a'), pin('b')];
    const text = 'Newer.';

    expect(withHookPins(pins, [{ id: 'a', text }], budget).pins).toEqual([
      pin('a', text, 'hook'),
      pin('b'),
    ]);
    expect(withHookPins(pins, [pin('a')], budget).pins).toBe(pins);
  });
});

const turn = (seq: number, text: string, changes: Partial<Turn> = {}) => ({
  seq,
  user: { role: 'user' as const, parts: [{ text }] },
  inContext: true,
  retention: 'keep' as const,
  ...changes,
});

describe('messages that stay word for word', () => {
  test('kept messages become pins of their turns, in order', () => {
    const folded = [
      turn(1, 'No nuts.'),
      turn(2, 'Hello', { retention: 'normal' }),
      turn(3, 'Aisle seat.'),
    ];

    const { pins, added } = keptPins([pin('a')], folded, budget);

    expect(added).toEqual([
      { id: 'keep-1', text: 'No nuts.', source: 'api', seq: 1 },
      { id: 'keep-3', text: 'Aisle seat.', source: 'api', seq: 3 },
    ]);
    expect(pins).toEqual([pin('a'), ...added]);
  });

  test('kept messages that do not fit are named and evict nothing, newest first', () => {
    const folded = [turn(1, 'Short.'), turn(2, longText), turn(3, 'Aisle seat.')];
    const room = filledBy(pin('a'), pin('b', 'Short.'), pin('c', 'Aisle seat.'));

    const { added, leftOut } = keptPins([pin('a')], folded, room);

    expect(added.map(({ id }) => id)).toEqual(['keep-1', 'keep-3']);
    expect(leftOut).toEqual([2]);
  });

  test('kept messages out of the context, empty or already pinned are not pinned', () => {
    const pins = [{ ...pin('keep-3', 'Mended by hand.'), seq: 3 }];
    const folded = [
      turn(1, 'Replaced.', { inContext: false }),
      turn(2, ' '),
      turn(3, 'As it was said.'),
    ];

    const kept = keptPins(pins, folded, budget);

    expect(kept).toEqual({ pins, added: [], leftOut: [] });
    expect(kept.pins).toBe(pins);
  });
});

test('pins are removed with their turns, and others stay', () => {
  const pins = [pin('a'), { ...pin('b'), seq: 4 }, { ...pin('c'), seq: 5 }];

  expect(withoutPinsFrom(pins, (seq) => seq >= 5).map(({ id }) => id)).toEqual(['a', 'b']);
});

describe('pins in the context', () => {
  const source = {
    model: 'gemini-2.5-flash',
    coveredThrough: { seq: 0, contentIndex: 0 },
    turns: [],
  };
  const history = { snapshotText: '<state_snapshot/>', masks: [] };

  test('pins in the context are an item of their own and one content with the snapshot', () => {
    const items = assembleContext({ ...source, pins: [pin('a'), pin('b')], history });

    expect(items.map(({ kind }) => kind)).toEqual(['pin', 'snapshot', 'ack']);
    const contents = itemContents(items);
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model']);
    expect(contents[0]?.parts).toEqual([
      { text: 'Facts that stay word for word:\n- Fact a.\n- Fact b.\n' },
      { text: '<state_snapshot/>' },
    ]);
    expect(assemblePrompt({ ...source, pins: [], history }, items).contents).toEqual(contents);
  });

  test('pins stand alone where nothing is folded, and add nothing when there are none', () => {
    const alone = assembleContext({ ...source, pins: [pin('a')], history: undefined });

    expect(alone.map(({ kind }) => kind)).toEqual(['pin', 'ack']);
    expect(itemContents(alone)).toEqual(alone.map(({ content }) => content));
    expect(assembleContext({ ...source, pins: [], history: undefined })).toEqual([]);
  });
});
