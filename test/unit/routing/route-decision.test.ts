import {
  answeringModels,
  limitingModel,
  routeByClassifier,
  routeByRule,
  ROUTED_FILES_TOKENS,
  type RouteFacts,
  type Routing,
} from '#shared/routing/routing.ts';
import { expect, test } from 'vitest';

const models = { fast: 'flash', strong: 'pro' };
const plain: RouteFacts = {
  models,
  earlier: undefined,
  setting: undefined,
  last: undefined,
  filesTokens: 0,
};
const strong = { choice: 'strong', model: 'pro' } as const;
const fast = { choice: 'fast', model: 'flash' } as const;
const byClassifier = { ...strong, why: 'classifier' } as const;
const large = { filesTokens: ROUTED_FILES_TOKENS };

test.each<[string, Partial<RouteFacts>, Routing | undefined]>([
  ['is none for a message like any other', {}, undefined],
  ['is none for the conversation’s last choice alone', { last: 'strong' }, undefined],
  ['is none for small files', { filesTokens: ROUTED_FILES_TOKENS - 1, last: 'strong' }, undefined],
  ['is what the turn was given before', { earlier: byClassifier }, byClassifier],
  [
    'is what the turn was given before, whatever was set since',
    { earlier: byClassifier, setting: 'fast', ...large },
    byClassifier,
  ],
  [
    'is the present model in the place of one that is not offered any more',
    { earlier: { ...byClassifier, model: 'old-pro' } },
    byClassifier,
  ],
  [
    'is the model that answered, though it has the other place now',
    { earlier: { choice: 'strong', why: 'default', model: 'flash' } },
    { choice: 'strong', why: 'default', model: 'flash' },
  ],
  ['is the conversation’s setting', { setting: 'strong' }, { ...strong, why: 'rule' }],
  [
    'is the conversation’s setting, whatever the files',
    { setting: 'fast', last: 'strong', ...large },
    { ...fast, why: 'rule' },
  ],
  ['stays the last one for large files', { last: 'strong', ...large }, { ...strong, why: 'rule' }],
  ['is the default for large files at first', large, { ...fast, why: 'rule' }],
])('the routing decision without a call: %s', (...[, facts, routing]) => {
  expect(routeByRule({ ...plain, ...facts })).toEqual(routing);
});

test.each([
  ['the classifier’s choice', 'strong', { ...strong, why: 'classifier' }],
  ['the default where it gave none', undefined, { ...fast, why: 'default' }],
] as const)('the routing decision without a call gives %s', (...[, choice, routing]) => {
  expect(routeByClassifier(choice, models)).toEqual(routing);
});

const input = { routing: models, fallback: 'house', windows: { flash: 1_000, pro: 2_000 } };

test.each([
  ['its own', 'any-model', input, 'any-model'],
  ['of auto, the one with the smaller window', 'auto', input, 'flash'],
  [
    'of auto, the strong one where that is smaller',
    'auto',
    { ...input, windows: { flash: 2_000, pro: 1_000 } },
    'pro',
  ],
  ['of auto, the fast one at equal windows', 'auto', { ...input, windows: {} }, 'flash'],
  [
    'of auto, that of new conversations where nothing is chosen any more',
    'auto',
    { ...input, routing: undefined },
    'house',
  ],
])('the model whose limits a routed conversation has is %s', (...[, model, given, limiting]) => {
  expect(limitingModel(model, given)).toBe(limiting);
  expect(answeringModels(model, given)).toContain(limiting);
});
