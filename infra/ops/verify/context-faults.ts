import { remedies, type Fault } from './fault.ts';

/** What can be wrong with what the model sees. */
export const contextFaults = {
  'covered-differs': {
    invariant: 'I2',
    shouldBe: 'head and history name the same last folded turn',
    remedy: remedies.rebuild,
  },
  'covered-beyond': {
    invariant: 'I2',
    shouldBe: 'nothing is folded that is not a stored, ended turn',
    remedy: remedies.rebuild,
  },
  'index-broken': {
    invariant: 'I2',
    shouldBe: 'recall finds each folded turn that the head says is indexed',
    remedy:
      'the next message has the worker make it anew; until then it is answered without recall',
  },
  'not-once-in-context': {
    invariant: 'I2',
    shouldBe: 'each content after the folded ones stands in the context once',
    remedy: remedies.rebuild,
  },
  'in-context-wrongly': {
    invariant: 'I2',
    shouldBe: 'only ended turns that nothing replaced or erased are in the context',
    remedy: 'set inContext to false under the update time of the turn',
  },
  'left-out-of-context': {
    invariant: 'I2',
    shouldBe: 'an answered turn is in the context unless it was replaced, erased or filtered',
    remedy: 'set inContext to true under the update time of the turn',
  },
  'mask-astray': {
    invariant: 'I2',
    shouldBe: 'every mask belongs to a part of a turn that is there',
    remedy: remedies.rebuild,
  },
  'meter-ahead': {
    invariant: 'I2',
    shouldBe: 'the meter is about a turn and a generation that are there',
    remedy: 'the next answered message measures anew',
  },
  'pin-not-in-context': {
    invariant: 'I8',
    shouldBe: 'every pin stands in the context, once',
    remedy: 'put the pin again: `PUT …/pins/{id}`',
  },
  'constraint-not-in-context': {
    invariant: 'I8',
    shouldBe: 'every active constraint of the snapshot stands in its text',
    remedy: remedies.rebuild,
  },
  'context-differs': {
    invariant: 'I9',
    shouldBe: '/context shows what the documents make',
    remedy: 'restart the chat function: an instance holds what the store does not',
  },
} as const satisfies Record<string, Fault>;
