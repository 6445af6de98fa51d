import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';

type Parse = (file: string, text: string) => Promise<unknown>;

// Required and not imported: its types bring those of browsers along, for the whole project.
const { parse } = z
  .object({ parse: z.custom<Parse>((value) => typeof value === 'function') })
  .parse(createRequire(import.meta.url)('@cdktf/hcl2json'));

/** What stands between the braces of a block: attributes as JSON, expressions as `"${…}"`, blocks as lists. */
export type Body = Readonly<Record<string, unknown>>;

export interface Block {
  /** `google_pubsub_topic.events`, `data.google_project.this`, `variable.name`, … */
  address: string;
  file: string;
  /** Of a resource or a data source: its type. */
  type: string;
  name: string;
  body: Body;
}

/** A folder of `.tf` files, as far as they can be read without running anything. */
export interface Module {
  variables: Block[];
  outputs: Block[];
  locals: Block[];
  resources: Block[];
  data: Block[];
  modules: Block[];
}

const body = z.record(z.string(), z.unknown());
const named = z.record(z.string(), z.array(body)).default({});
const typed = z.record(z.string(), z.record(z.string(), z.array(body))).default({});
const fileSchema = z.object({
  variable: named,
  output: named,
  module: named,
  locals: z.array(body).default([]),
  resource: typed,
  data: typed,
});

const blocksNamed = (file: string, kind: string, blocks: z.infer<typeof named>): Block[] =>
  Object.entries(blocks).flatMap(([name, bodies]) =>
    bodies.map((one) => ({ address: `${kind}.${name}`, file, type: kind, name, body: one })),
  );

const blocksTyped = (file: string, prefix: string, blocks: z.infer<typeof typed>): Block[] =>
  Object.entries(blocks).flatMap(([type, byName]) =>
    Object.entries(byName).flatMap(([name, bodies]) =>
      bodies.map((one) => ({ address: `${prefix}${type}.${name}`, file, type, name, body: one })),
    ),
  );

/** Parses the `.tf` files of a folder, not of those below it. Throws what the parser says of a broken one. */
export async function readModule(folder: string): Promise<Module> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.tf'));
  const parsed = await Promise.all(
    files.toSorted().map(async (file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return { file, ...fileSchema.parse(await parse(file, text)) };
    }),
  );
  return {
    variables: parsed.flatMap((one) => blocksNamed(one.file, 'variable', one.variable)),
    outputs: parsed.flatMap((one) => blocksNamed(one.file, 'output', one.output)),
    modules: parsed.flatMap((one) => blocksNamed(one.file, 'module', one.module)),
    locals: parsed.flatMap(({ file, locals }) =>
      locals.flatMap((one) =>
        Object.entries(one).map(([name, value]) => ({
          address: `local.${name}`,
          file,
          type: 'local',
          name,
          body: { value },
        })),
      ),
    ),
    resources: parsed.flatMap((one) => blocksTyped(one.file, '', one.resource)),
    data: parsed.flatMap((one) => blocksTyped(one.file, 'data.', one.data)),
  };
}

/** A body that is an object, for values that may be anything. */
export const bodyOf = (value: unknown): Body => body.safeParse(value).data ?? {};

/** The bodies of the blocks of a name, with those that `dynamic` makes. */
export function blocksIn(parent: Body, name: string): Body[] {
  const plain = Array.isArray(parent[name]) ? parent[name].map(bodyOf) : [];
  const dynamic = bodyOf(parent['dynamic'])[name];
  const made = Array.isArray(dynamic)
    ? dynamic.flatMap((one: unknown) => {
        const content = bodyOf(one)['content'];
        return Array.isArray(content) ? content.map(bodyOf) : [];
      })
    : [];
  return [...plain, ...made];
}
