// Asks the server whether it runs a demo, and as whom to log in to it.
export interface DemoLogin {
  login: string;
  password: string;
}

export async function fetchDemo(): Promise<DemoLogin | null> {
  try {
    const response = await fetch('/playground.json');
    const { demo } = await response.json();
    return demo?.login && demo?.password ? demo : null;
  } catch {
    // Without a demo the form for logging in is there all the same.
    return null;
  }
}
