import {
  withHookPins,
  calibratedPinTokens,
  pinBudget,
  decidePin,
} from '#shared/conversation/context/pins.ts';
import type { Pin } from '#shared/conversation/documents/conversation.ts';
import { describe, expect, test } from 'vitest';

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
});
