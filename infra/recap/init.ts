import { ArgumentError, readCommandLine, runCommand } from '#infra/command-line.ts';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';

const help = `Usage: recap init FOLDER [--recap SPEC]

Writes a project into a new or empty folder: an app's backend on Recap, with one tool to begin with.

  --recap SPEC   what package.json names as Recap, e.g. file:../recap-0.2.0.tgz (default: this version)
  --help         this text
`;

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

interface Project {
  name: string;
  recap: string;
}

const indexFile = `import { defineRecap, tool } from 'recap';
import { z } from 'zod';

const weather = tool({
  name: 'weather',
  description: 'The weather at a place. Use it when the user asks how the weather is.',
  input: z.object({ place: z.string() }),
  run: async ({ place }, { signal }) => {
    const found = await fetch(\`https://wttr.in/\${encodeURIComponent(place)}?format=3\`, { signal });
    return found.text();
  },
});

export const { chat, compaction } = defineRecap({
  systemInstruction: ({ user }) =>
    \`You are a helpful guide.\${user.claims['plan'] ? \` The user's plan: \${user.claims['plan']}.\` : ''}\`,
  tools: [weather],
});
`;

const terraformFile = `terraform {
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.33"
    }
    time = {
      source  = "hashicorp/time"
      version = "~> 0.13"
    }
  }
}

variable "project_id" {
  description = "Google Cloud project that everything is made in."
  type        = string
}

provider "google" {
  project               = var.project_id
  region                = "us-central1"
  user_project_override = true
  billing_project       = var.project_id
}

# All arguments: node_modules/recap/terraform/README.md
module "recap" {
  source = "../node_modules/recap/terraform"

  project_id     = var.project_id
  source_archive = "../dist/recap.zip"

  # To try things on: small, and gone with \`terraform destroy\`.
  deletion_protection = false
  observability       = "none"
  chat                = { max_instances = 3 }
  compaction          = { max_instances = 2 }
  settings            = { GLOBAL_DAILY_USD = "5" }

  # What your code reads from process.env:
  # app_settings        = { ACME_URL = "https://acme.example.com" }
  # app_secret_versions = { ACME_API_KEY = 1 }
  # app_secrets         = { ACME_API_KEY = var.acme_api_key }
}

output "chat_url" {
  value = module.recap.chat_url
}
`;

const readmeFile = ({ name }: Project) => `# ${name}

The backend of a chat, on [Recap](node_modules/recap/README.md).

\`\`\`sh
npm install
npm run dev          # here, with a page; Gemini answers if .env has a GEMINI_API_KEY, else the fake Gemini
npm run typecheck
\`\`\`

\`index.ts\` is all of it: the instruction, the tools, and what happens before and after a turn.

To deploy it, once a Google Cloud project has what [deploy.md](node_modules/recap/docs/deploy.md) lists:

\`\`\`sh
npm run package
terraform -chdir=terraform init
TF_VAR_project_id=my-project terraform -chdir=terraform apply -parallelism=2
npx recap smoke --url "$(terraform -chdir=terraform output -raw chat_url)" --api-key KEY
\`\`\`
`;

/** The files of a new project, by path. */
const projectFiles = (project: Project): Readonly<Record<string, string>> => ({
  'package.json': json({
    name: project.name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { dev: 'recap dev', package: 'recap package', typecheck: 'tsc' },
    dependencies: { recap: project.recap, zod: '^4.0.0' },
    // Node itself, so that a machine with another version needs nothing more.
    devDependencies: { '@types/node': '^24.0.0', node: '^24.0.0', typescript: '>=5.9' },
    allowScripts: { esbuild: true, node: true, protobufjs: true },
    engines: { node: '>=24' },
  }),
  'index.ts': indexFile,
  // With what Node needs to run the sources as they are.
  'tsconfig.json': json({
    compilerOptions: {
      target: 'es2024',
      module: 'nodenext',
      strict: true,
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
    },
    include: ['*.ts', 'src'],
  }),
  'terraform/main.tf': terraformFile,
  '.env.example': `# Copy to .env. With a key Gemini answers and bills; without one the fake Gemini repeats what it is told.
GEMINI_API_KEY=
`,
  'README.md': readmeFile(project),
  '.gitignore': 'node_modules\ndist\n.env\n.local\n.terraform\n*.tfstate*\n',
});

async function ownVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}

/** Throws ArgumentError that names what is wrong with the folder. */
function checkFolder(folder: string): void {
  if (!NAME.test(basename(folder)))
    throw new ArgumentError(
      `the folder's name is that of the project: lower-case letters, digits, "-", "_" and ".", not ${JSON.stringify(basename(folder))}`,
    );
  if (existsSync(folder) && readdirSync(folder).some((name) => name !== '.git'))
    throw new ArgumentError(`${folder} is not empty: name a new folder`);
}

process.exitCode = await runCommand(help, async (argv) => {
  const { values, positionals } = readCommandLine(argv, {
    recap: { type: 'string' },
    help: { type: 'boolean', default: false },
  });
  if (values.help) return 'help';
  const [folder, ...rest] = positionals;
  if (folder === undefined || rest.length > 0)
    throw new ArgumentError('recap init takes one folder, which it makes');
  const target = resolve(folder);
  checkFolder(target);
  const recap = values.recap ?? `^${await ownVersion()}`;
  for (const [path, text] of Object.entries(projectFiles({ name: basename(target), recap }))) {
    const file = join(target, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  process.stdout.write(
    `${folder} is written. Next:\n\n  cd ${folder}\n  npm install\n  npm run dev\n`,
  );
  return 0;
});
