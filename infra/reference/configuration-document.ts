import { z } from 'zod';
import { CLIENT_WRITABLE_FIELDS, environmentSchema } from '#functions/config/environment.ts';

/** What JSON Schema says of one variable, as far as the table shows it. */
const variableSchema = z.looseObject({
  type: z.enum(['string', 'number', 'integer']),
  description: z.string().min(1),
  default: z.union([z.string(), z.number()]).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  enum: z.array(z.string()).optional(),
  format: z.string().optional(),
  maxLength: z.number().optional(),
});
type Variable = z.infer<typeof variableSchema>;

const documentSchema = z.object({
  properties: z.record(z.string(), variableSchema),
  required: z.array(z.string()),
});

const grouped = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 20 });

/** `1 – 900,000`, `> 0, ≤ 1`, or '' where nothing but the type bounds it. */
function numberRange({ minimum, exclusiveMinimum, maximum }: Variable): string {
  const isBoundedAbove = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (minimum !== undefined && isBoundedAbove) return `${grouped(minimum)} – ${grouped(maximum)}`;
  return [
    ...(minimum === undefined ? [] : [`≥ ${grouped(minimum)}`]),
    ...(exclusiveMinimum === undefined ? [] : [`> ${grouped(exclusiveMinimum)}`]),
    ...(isBoundedAbove ? [`≤ ${grouped(maximum)}`] : []),
  ].join(', ');
}

function range(variable: Variable): string {
  if (variable.enum) return variable.enum.map((value) => `\`${value}\``).join(', ');
  if (variable.type !== 'string') return numberRange(variable);
  if (variable.format === 'uri') return 'a URL';
  if (variable.maxLength !== undefined) return `at most ${grouped(variable.maxLength)} characters`;
  return 'text';
}

function defaultOf(variable: Variable, isRequired: boolean): string {
  if (isRequired) return '**must be set**';
  if (variable.default === undefined || variable.default === '') return '–';
  return typeof variable.default === 'number'
    ? grouped(variable.default)
    : `\`${variable.default}\``;
}

/** The text of `docs/reference/configuration.md`: every environment variable, from the schema itself. */
export function configurationDocument(): string {
  const { properties, required } = documentSchema.parse(
    z.toJSONSchema(environmentSchema, { io: 'input' }),
  );
  const rows = Object.entries(properties).map(([name, variable]) => {
    const value = defaultOf(variable, required.includes(name));
    return `| \`${name}\` | ${value} | ${range(variable)} | ${variable.description} |`;
  });
  const introduction =
    'Every environment variable that both functions read, with its default, its range and what it is for. ' +
    'An empty variable counts as not set. A value out of range stops the start, and all problems are ' +
    'named at once. This page is written by `npm run generate` from the schema that the code uses ' +
    '(`functions/src/config/environment.ts`).';
  const table = ['| Name | Default | Range | Meaning |', '| --- | --- | --- | --- |', ...rows];
  const fields = CLIENT_WRITABLE_FIELDS.map((field) => `\`${field}\``).join(', ');
  const closing = `\`CLIENT_WRITABLE\` may list: ${fields}.`;
  return `# Configuration\n\n${[introduction, table.join('\n'), closing].join('\n\n')}\n`;
}
