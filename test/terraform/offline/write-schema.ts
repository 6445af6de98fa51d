import { writeFileSync } from 'node:fs';
import { endedByArguments } from '#test/support/only-help.ts';
import { startRealTerraform } from '../real-terraform.ts';
import { providerNames, schemaFile } from './provider-schema.ts';
import { schemaText } from './slim-schema.ts';

const help = `Usage: npm run terraform:schema

Writes the …-provider-schema.json anew, of the newest providers that terraform/versions.tf allows and Terraform finds: in
the registry, or in a mirror that TF_CLI_CONFIG_FILE names.

  --help   this text

Exit code: 0 written; 1 not; 2 wrong arguments.`;

async function writeSchemas(): Promise<0 | 1> {
  const terraform = await startRealTerraform();
  if (typeof terraform === 'string') {
    console.error(`Terraform finds no provider: ${terraform}`);
    return 1;
  }
  try {
    const { output } = await terraform.run(terraform.folder, 'providers', 'schema', '-json');
    const printed: unknown = JSON.parse(output);
    for (const name of providerNames) {
      const version = terraform.versions[name];
      writeFileSync(schemaFile(name), schemaText(printed, name, version));
      console.log(`${name} ${version}`);
    }
    return 0;
  } finally {
    await terraform.stop();
  }
}

process.exitCode = endedByArguments(help) ?? (await writeSchemas());
