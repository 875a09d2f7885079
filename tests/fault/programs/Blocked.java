// SPDX-License-Identifier: MIT
// T13: reads that would never return are ended from outside: the machine signals the thread, the read gives up.
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Pipe;

public class Blocked {
    static int ended;

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 50; i++) {
            Pipe pipe = Pipe.open();
            Thread reader = new Thread(() -> {
                try {
                    pipe.source().read(ByteBuffer.allocateDirect(4));
                } catch (AsynchronousCloseException e) {
                    ended++;
                } catch (java.io.IOException e) {
                    System.out.println(e);
                }
            });
            reader.start();
            Thread.sleep(4);
            pipe.source().close();
            reader.join();
            pipe.sink().close();
        }
        System.out.println("ended " + ended);
    }
}
