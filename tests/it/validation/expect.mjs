// Puts every case of cases.mjs to graphql-js on the server's own SDL, and writes the results into expected.json, which the suite compares
// the running server with. `node tests/it/validation/expect.mjs`; with `--check` it fails where that file is not what it would write.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cases } from './cases.mjs';

const require = createRequire(new URL('../../../playground/package.json', import.meta.url));
const { GraphQLError, Kind, buildSchema, getVariableValues, parse, specifiedRules, validate, version } = (() => {
  const graphql = require('graphql');
  return { ...graphql, getVariableValues: require('graphql/execution/values').getVariableValues };
})();
const rulesOf = require('graphql').recommendedRules ?? [];

const at = (path) => new URL(path, import.meta.url);
const schema = buildSchema(readFileSync(at('../../../schema.graphql'), 'utf8'));

// The server's own scalars, by its rules.
const refuse = (name) => { throw new GraphQLError(`no ${name}`); };
const time = (text) => {
  const [, day] = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  return day && isDay(day) && Date.parse(text) >= 0 ? text : refuse('DateTime');
};
const scalars = {
  DateTime: (value) => (typeof value === 'string' && isDated(value) ? time(value) : refuse('DateTime')),
  Date: (value) => (typeof value === 'string' && isDay(value) ? value : refuse('Date')),
  Decimal: (value) => (typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) ? value : refuse('Decimal')),
};
function isDay(text) {
  // JavaScript makes 2 March of 30 February.
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && isDated(`${text}T00:00:00Z`) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
}
function isDated(text) {
  return !Number.isNaN(Date.parse(text));
}
for (const [name, parseValue] of Object.entries(scalars)) {
  const numbers = name === 'Decimal' ? [Kind.INT, Kind.FLOAT] : [];
  schema.getType(name).parseValue = parseValue;
  schema.getType(name).parseLiteral = (node) => {
    if (node.kind === Kind.STRING) return parseValue(node.value);
    return numbers.includes(node.kind) ? parseValue(Number(node.value)) : refuse(name);
  };
}

// Why it is refused: nothing where it runs.
function refusal({ query, operationName, variables }) {
  let document;
  try {
    document = parse(query);
  } catch (error) {
    return { by: 'parser', messages: [error.message] };
  }
  const errors = validate(schema, document, [...specifiedRules, ...rulesOf]);
  if (errors.length > 0) return { by: 'validation', messages: errors.map((error) => error.message) };
  const operations = document.definitions.filter((it) => it.kind === Kind.OPERATION_DEFINITION);
  const operation = operationName ? operations.find((it) => it.name?.value === operationName) : operations[0];
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {});
  if (coerced.errors) return { by: 'variables', messages: coerced.errors.map((error) => error.message) };
  return undefined;
}

const wrong = [];
const expected = cases().map((it) => {
  const refused = refusal(it);
  if (!it.differs && it.runs !== !refused) wrong.push(`${JSON.stringify(it)}: graphql-js says ${JSON.stringify(refused ?? 'it runs')}`);
  if (it.differs && it.runs === !refused) wrong.push(`${it.query} does not differ`);
  const { group, query, operationName, variables, runs, differs } = it;
  // Suggestions are not compared: they change with every new name in the schema.
  if (refused) refused.messages = refused.messages.map((message) => message.replace(/ Did you mean .*/s, ''));
  return { group, query, operationName, variables, runs, differs, refused };
});
if (wrong.length > 0) {
  console.error(`The cases are not as they say:\n${wrong.join('\n')}`);
  process.exit(1);
}
// One case a line, so that a change is read as one.
const text = `{"graphql": ${JSON.stringify(version)}, "cases": [\n${expected.map((it) => JSON.stringify(it)).join(',\n')}\n]}\n`;
const file = at('expected.json');
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error('tests/it/validation/expected.json is not what graphql-js says: run `make validation-cases`.');
    process.exit(1);
  }
  console.log(`${expected.length} cases are what graphql-js ${version} says.`);
} else {
  writeFileSync(file, text);
  console.log(`${expected.length} cases written.`);
}
