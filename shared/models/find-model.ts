import { modelName } from './model-entry.ts';

/** What may follow the name of a model in an id of the same model: its version or stage, and not `-lite` or `-image`. */
const VERSION = /^(?:-(?:preview|latest|exp|customtools|\d+))*(?:@.*)?$/;

const covers = (name: string, id: string): boolean =>
  name.endsWith('*')
    ? id.startsWith(name.slice(0, -1))
    : id.startsWith(name) && VERSION.test(id.slice(name.length));

/** What a table by model says of an id (with or without `models/`): the longest name that covers it decides. */
export function findModel<Value>(
  table: Readonly<Record<string, Value>>,
  model: string,
): Value | undefined {
  const id = modelName(model);
  let best: { length: number; value: Value } | undefined;
  for (const [key, value] of Object.entries(table)) {
    const name = modelName(key);
    if (name === id) return value;
    if (!covers(name, id)) continue;
    if (best === undefined || name.length > best.length) best = { length: name.length, value };
  }
  return best?.value;
}
