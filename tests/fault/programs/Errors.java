// SPDX-License-Identifier: MIT
// T15: the words of exceptions come from errno.
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;

public class Errors {
    interface Attempt {
        void make() throws IOException;
    }

    public static void main(String[] arguments) {
        TreeMap<String, Integer> seen = new TreeMap<>();
        for (String path : new String[] {"/nonexistent/x", "/etc/passwd/x", "/", "/" + "x".repeat(300)}) {
            Attempt[] attempts = {
                () -> new FileInputStream(path).close(), () -> new FileOutputStream(path + "/").close(),
                () -> Files.createDirectory(Path.of(path, "y", "z")), () -> Files.readSymbolicLink(Path.of(path)),
            };
            for (Attempt attempt : attempts)
                for (int i = 0; i < 200; i++)
                    try {
                        attempt.make();
                    } catch (IOException e) {
                        seen.merge(e.toString(), 1, Integer::sum);
                    }
        }
        System.out.println(seen);
    }
}
