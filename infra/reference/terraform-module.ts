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
type Body = Readonly<Record<string, unknown>>;

interface Block {
  /** `google_pubsub_topic.events`, `variable.name`, … */
  address: string;
  /** Of a resource: its type. */
  type: string;
  name: string;
  body: Body;
}

/** A folder of `.tf` files, as far as they can be read without running anything. */
interface Module {
  variables: Block[];
  outputs: Block[];
  /** Values by their names. */
  locals: Body;
  resources: Block[];
}

const body = z.record(z.string(), z.unknown());
const named = z.record(z.string(), z.tuple([body])).default({});
const fileSchema = z.object({
  variable: named,
  output: named,
  locals: z.array(body).default([]),
  resource: z.record(z.string(), named).default({}),
});

const blocksIn = (type: string, blocks: z.infer<typeof named>): Block[] =>
  Object.entries(blocks).map(([name, [one]]) => ({
    address: `${type}.${name}`,
    type,
    name,
    body: one,
  }));

/** Parses the `.tf` files of a folder, not of those below it. Throws what the parser says of a broken one. */
export async function readModule(folder: string): Promise<Module> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.tf'));
  const parsed = await Promise.all(
    files.toSorted().map(async (file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return fileSchema.parse(await parse(file, text));
    }),
  );
  return {
    variables: parsed.flatMap(({ variable }) => blocksIn('variable', variable)),
    outputs: parsed.flatMap(({ output }) => blocksIn('output', output)),
    locals: Object.assign({}, ...parsed.flatMap(({ locals }) => locals)),
    resources: parsed.flatMap(({ resource }) =>
      Object.entries(resource).flatMap(([type, blocks]) => blocksIn(type, blocks)),
    ),
  };
}
